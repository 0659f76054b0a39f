using Billing.Proxy.Calls;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class DrainingWriterTests
{
    // Which of two things comes first is up to the scheduler; so many times it is once this one and once that.
    private const int Tries = 2_000;

    [Fact]
    public async Task A_write_that_completes_while_the_shutdown_begins_has_been_written()
    {
        for (var i = 0; i < Tries; i++)
        {
            using var closing = new CancellationTokenSource();
            var stream = new HeldStream();
            using var writer = new DrainingWriter<int>(stream, TimeProvider.System, closing.Token);
            var written = writer.WriteAsync(i, flush: true).AsTask();

            // The last to be registered is called first.
            using var completing = closing.Token.Register(stream.Written.SetResult);
            await closing.CancelAsync();
            await written;
        }
    }

    private sealed class HeldStream : IServerStreamWriter<int>
    {
        public TaskCompletionSource Written { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public WriteOptions? WriteOptions { get; set; }

        public Task WriteAsync(int message) => Written.Task;

        public Task WriteAsync(int message, CancellationToken cancellationToken) => Written.Task;
    }
}
