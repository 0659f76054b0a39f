using Billing.Cli.Background;
using Billing.LocalStack.Processes;

namespace Billing.UnitTests.Cli.Background;

public sealed class StackLogsTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-logs-");
    private readonly StringWriter _output = new() { NewLine = "\n" };

    public StackLogsTests()
    {
        Write("payments-1", "one\ntwo\n");
        Write("proxy-1", "three\nhalf a li");
    }

    [Fact]
    public void Each_line_of_several_logs_has_the_name_of_its_process()
    {
        using var logs = new StackLogs(_folder.FullName, [], _output);

        logs.Print(toTheEnd: true);

        Assert.Equal("payments-1 | one\npayments-1 | two\nproxy-1    | three\nproxy-1    | half a li\n", _output.ToString());
    }

    [Fact]
    public void One_log_is_printed_as_it_is()
    {
        using var logs = new StackLogs(_folder.FullName, ["payments-1"], _output);

        logs.Print(toTheEnd: true);

        Assert.Equal("one\ntwo\n", _output.ToString());
    }

    [Fact]
    public void An_unknown_name_is_reported_with_the_known_names()
    {
        var refusal = Assert.Throws<StackException>(() => new StackLogs(_folder.FullName, ["proxy-1", "proxy-2"], _output));

        Assert.Equal("There is no log of 'proxy-2'; there are payments-1, proxy-1.", refusal.Message);
    }

    [Fact]
    public void A_line_that_is_still_being_written_is_printed_when_it_has_ended()
    {
        using var logs = new StackLogs(_folder.FullName, ["proxy-1"], _output);

        logs.Print(toTheEnd: false);
        var before = _output.ToString();
        Write("proxy-1", "ne\nfour\n");
        logs.Print(toTheEnd: false);

        Assert.Equal(("three\n", "three\nhalf a line\nfour\n"), (before, _output.ToString()));
    }

    [Fact]
    public async Task Following_ends_when_the_logs_are_deleted()
    {
        using var logs = new StackLogs(_folder.FullName, ["proxy-1"], _output);
        _folder.Delete(recursive: true);

        await logs.FollowAsync(new ManualTime(), TestContext.Current.CancellationToken);

        Assert.Equal("three\nhalf a li\n", _output.ToString());
    }

    [Fact]
    public async Task Following_ends_when_it_is_cancelled()
    {
        using var logs = new StackLogs(_folder.FullName, [], _output);
        using var stopped = new CancellationTokenSource();
        await stopped.CancelAsync();

        await logs.FollowAsync(new ManualTime(), stopped.Token);

        Assert.Contains("half a li\n", _output.ToString(), StringComparison.Ordinal);
    }

    public void Dispose()
    {
        _output.Dispose();
        if (Directory.Exists(_folder.FullName))
        {
            _folder.Delete(recursive: true);
        }
    }

    private void Write(string name, string text) => File.AppendAllText(Path.Combine(_folder.FullName, name + ".log"), text);
}
