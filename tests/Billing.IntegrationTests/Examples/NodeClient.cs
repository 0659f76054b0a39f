using System.Text.Json;
using Billing.IntegrationTests.Services;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Examples;

/// <summary>A program for Node.js with its packages, in its own folder.</summary>
/// <param name="source">The program's folder in the repository.</param>
public abstract class NodeInstallation(string source) : IAsyncDisposable
{
    // The error codes of npm when its registry cannot be reached or does not provide a package.
    private static readonly string[] Unreachable =
        ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "E404", "E403"];

    private readonly StackFolder _folder = StackFolder.Create();
    private Task<ToolResult>? _installing;

    /// <summary>The installed program's folder.</summary>
    public string Path => System.IO.Path.Combine(_folder.FullName, System.IO.Path.GetFileName(source));

    /// <summary>Installs the packages of the lock file, once, and returns the path of Node.js. If something is missing,
    /// the test is skipped with a message.</summary>
    public async Task<string> NodeAsync()
    {
        var (node, npm) = (ExternalTool.Need("node"), ExternalTool.Need("npm"));
        var installed = await (_installing ??= InstallOnceAsync(npm));
        Assert.SkipWhen(
            installed.ExitCode != 0 && IsNetwork(installed.Errors),
            "npm's registry cannot be reached:\n" + installed.Errors);
        installed.Succeeded();
        return node;
    }

    public async ValueTask DisposeAsync()
    {
        await _folder.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    private static bool IsNetwork(string errors) =>
        Array.Exists(Unreachable, code => errors.Contains(code, StringComparison.Ordinal));

    private Task<ToolResult> InstallOnceAsync(string npm)
    {
        var folder = _folder.CreateSubfolder(System.IO.Path.GetFileName(source));
        foreach (var file in Directory.EnumerateFiles(System.IO.Path.Combine(Repository.Root, source)))
        {
            File.Copy(file, System.IO.Path.Combine(folder, System.IO.Path.GetFileName(file)));
        }
        return ExternalTool.RunAsync(
            npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries", "0"],
            folder);
    }
}

/// <summary>The client of examples/node-client with its packages.</summary>
public sealed class NodeClientInstallation() : NodeInstallation("examples/node-client");

/// <summary>The client of examples/node-client against real proxies.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class NodeClient : IClassFixture<NodeClientInstallation>
{
    private readonly KafkaStack _stack;
    private readonly NodeClientInstallation _installation;

    public NodeClient(KafkaStack stack, NodeClientInstallation installation)
    {
        _installation = installation;
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task It_pays_once_per_id_and_in_bulk_and_reads_its_writes_despite_an_unreachable_proxy()
    {
        var node = await _installation.NodeAsync();
        var account = StackFixture.NewAccount();
        using var ports = new FreePorts();

        // No proxy listens on the first address: its calls fail over to the next one.
        string[] addresses =
        [
            $"127.0.0.1:{ports.Take()}", .. _stack.Stack.ProxyAddresses.Select(a => new Uri(a).Authority),
        ];
        var result = await RunAsync(node, account, addresses);

        Assert.Equal("PAYMENT_OUTCOME_ACCEPTED", result.GetProperty("paid").GetProperty("outcome").GetString());
        Assert.Equal(
            result.GetProperty("paid").GetRawText()
                .Replace("\"replayed\": false", "\"replayed\": true", StringComparison.Ordinal),
            result.GetProperty("again").GetRawText());
        Assert.Equal(300, result.GetProperty("outcomes").GetProperty("PAYMENT_OUTCOME_ACCEPTED").GetInt32());
        Assert.Equal("305", result.GetProperty("balance").GetProperty("balance").GetProperty("units").GetString());
        Assert.Equal("301", result.GetProperty("balance").GetProperty("version").GetString());
        Assert.Equal(301, await _stack.CountEventsAsync(account));
    }

    [Fact]
    public async Task Payments_on_a_stream_whose_proxy_is_killed_are_made_once_through_the_next_proxy()
    {
        var node = await _installation.NodeAsync();
        var account = StackFixture.NewAccount();
        var proxy = _stack.Stack.Of(ServiceRole.Proxy).First();
        try
        {
            var running = RunAsync(
                node, account, [.. _stack.Stack.ProxyAddresses.Select(a => new Uri(a).Authority)], count: 2_000);
            await Poll.UntilAsync(
                async () => running.IsCompleted || await _stack.CountEventsAsync(account) >= 100,
                TestContext.Current.CancellationToken);
            proxy.Process.Kill();
            var result = await running;

            var answers = result.GetProperty("outcomes").EnumerateObject().Sum(o => o.Value.GetInt32());
            Assert.Equal(2_000, answers);
            Assert.Equal(2_001, await _stack.CountEventsAsync(account));
        }
        finally
        {
            await proxy.Process.WaitForExitAsync(CancellationToken.None);
            await _stack.Stack.AddAsync(ServiceRole.Proxy, proxy.Number, CancellationToken.None);
        }
    }

    private async Task<JsonElement> RunAsync(
        string node, string account, IEnumerable<string> addresses, int count = 300)
    {
        var ran = await ExternalTool.RunAsync(
            node,
            [
                "demo.js", "--protos", Path.Combine(Repository.Root, "src/Contracts/Protos"), "--account", account,
                "--count", count.ToString(System.Globalization.CultureInfo.InvariantCulture),
                .. addresses.SelectMany(address => (string[])["--proxy", address]),
            ],
            _installation.Path);
        using var result = JsonDocument.Parse(ran.Succeeded().Output);
        return result.RootElement.Clone();
    }
}
