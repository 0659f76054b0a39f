using Billing.Cli.Background;
using Billing.LocalStack.Processes;

namespace Billing.UnitTests.Cli.Background;

public sealed class StackLogsTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-logs-");

    public StackLogsTests() =>
        Array.ForEach(["proxy-1.log", "payments-1.log", "state.json"], name => File.WriteAllText(At(name), "one\n"));

    [Fact]
    public void Without_names_all_logs_are_printed() =>
        Assert.Equal([At("payments-1.log"), At("proxy-1.log")], StackLogs.Files(_folder.FullName, []));

    [Fact]
    public void The_logs_of_the_named_processes_are_printed() =>
        Assert.Equal([At("proxy-1.log")], StackLogs.Files(_folder.FullName, ["proxy-1"]));

    [Fact]
    public void An_unknown_name_is_reported_with_the_known_names()
    {
        var refusal = Assert.Throws<StackException>(() => StackLogs.Files(_folder.FullName, ["proxy-1", "proxy-2"]));

        Assert.Equal("There is no log of 'proxy-2'; there are payments-1, proxy-1.", refusal.Message);
    }

    public void Dispose() => _folder.Delete(recursive: true);

    private string At(string name) => Path.Combine(_folder.FullName, name);
}
