using Billing.Proxy.Calls;
using Billing.Proxy.Limits;
using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Billing.UnitTests.Proxy;

public sealed class DrainingWriterTests
{
    // The scheduler decides which of the two comes first; with this number of tries, both orders occur.
    private const int Tries = 2_000;

    [Fact]
    public async Task A_write_that_completes_as_the_shutdown_begins_succeeds()
    {
        for (var i = 0; i < Tries; i++)
        {
            using var closing = new CancellationTokenSource();
            var stream = new HeldStream();
            using var end = new StreamEnd(new DefaultHttpContext(), TimeProvider.System, closing.Token);
            using var writer = new DrainingWriter<int>(stream, end);
            var written = writer.WriteAsync(i, flush: true).AsTask();

            // Callbacks are called in reverse order of registration.
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
