using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Billing.Client;
using Billing.LocalStack.Credentials;
using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;

namespace Billing.DeploymentTests;

/// <summary>The deployment with Compose, started with Podman from the images that deploy/containers/build.sh has built,
/// with ports, credentials and volumes of the test's own.</summary>
public sealed partial class ComposeTrial : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-compose-").FullName;
    private readonly Dictionary<int, int> _ports = [];
    private readonly FreePorts _free = new();
    private HttpClient? _http;

    public async ValueTask DisposeAsync()
    {
        _http?.Dispose();
        _free.Dispose();
        if (_ports.Count > 0)
        {
            (await ComposeAsync("down", "-v", "-t", "0")).Succeeded();
            (await ExternalTool.RunAsync(
                "bash", ["-c", $"podman network rm $(podman network ls -q --filter name={Project})"])).Succeeded();
        }
        Directory.Delete(_folder, recursive: true);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private StackCredentials Credentials => StackCredentials.Find(Path.Combine(_folder, "credentials"))!;

    [Fact]
    public async Task Callers_and_operators_are_separated_and_killed_services_come_back_with_their_data()
    {
        await StartAsync();
        var caller = Issue("payments:write", "accounts:read");
        var operators = Issue("accounts:manage");

        await OpenAsync(operators);
        Assert.Equal(5, await PayAsync(caller));
        await UntilEventsWaitAsync(2);
        Assert.Equal(HttpStatusCode.Unauthorized, await GetBalanceAsync(5080, token: null));
        Assert.Equal(HttpStatusCode.OK, await GetBalanceAsync(5080, caller));
        Assert.Equal(HttpStatusCode.NotFound, await SetLimitAsync(5080, operators));
        Assert.Equal(HttpStatusCode.Unauthorized, await SetLimitAsync(5090, token: null));
        Assert.Equal(HttpStatusCode.Forbidden, await SetLimitAsync(5090, caller));
        Assert.Equal(HttpStatusCode.OK, await SetLimitAsync(5090, operators));

        // A container between two starts has no process, and the number 0, which would be this process's own group.
        (await ExternalTool.RunAsync("bash", ["-c", $$"""
            containers=$(podman ps -q --filter name={{Project}})
            pids=$(podman inspect $containers --format '{{"{{.State.Pid}}"}}' | grep -vx 0) || exit
            for pid in $pids; do kill -9 $pid || true; done
            """])).Succeeded();

        Assert.Equal(10, await PayAsync(caller));
        // The changes of the limit are two.
        await UntilEventsWaitAsync(4);
    }

    // Not in InitializeAsync: nothing is disposed of if that fails.
    private async Task StartAsync()
    {
        _ = ExternalTool.Need("podman");
        _ = ExternalTool.Need("podman-compose");
        foreach (var image in (string[])
        [
            "billing-proxy", "billing-backend", "billing-webhooks", "billing-operator", "billing-servers",
        ])
        {
            var exists = await ExternalTool.RunAsync(
                "podman", ["image", "exists", $"{image}:{ReleaseContract.Version}"]);
            Assert.SkipUnless(
                exists.ExitCode == 0,
                $"podman has no image {image}:{ReleaseContract.Version}; deploy/containers/build.sh builds it");
        }
        var runs = await ExternalTool.RunAsync(
            "podman",
            ["run", "--rm", "--pull", "never", "--entrypoint", "true", $"billing-proxy:{ReleaseContract.Version}"]);
        Assert.SkipUnless(runs.ExitCode == 0, $"podman runs no containers here: {runs.Errors}");

        DeploymentCredentials.CreateIn(
            Path.Combine(_folder, "credentials"), [], TimeSpan.FromDays(1), TimeProvider.System);
        var text = await File.ReadAllTextAsync(Path.Combine(Repository.Root, "deploy/containers/compose.yaml"), Token);
        text = text.Replace(
            "../bootstrap", Path.Combine(Repository.Root, "deploy/bootstrap"), StringComparison.Ordinal);
        text = Published()
            .Replace(text, port => $"\"127.0.0.1:{Free(port.Groups["host"].Value)}:{port.Groups["container"].Value}\"");
        await File.WriteAllTextAsync(Path.Combine(_folder, "compose.yaml"), text, Token);
        File.Copy(
            Path.Combine(Repository.Root, "deploy/containers/webhooks.yaml"), Path.Combine(_folder, "webhooks.yaml"));
        _free.Dispose();
        _http = new HttpClient(Credentials.Handler());
        (await ComposeAsync("run", "--rm", "topics")).Succeeded();
        (await ComposeAsync("up", "-d")).Succeeded();
    }

    // Until then the account may owe nothing.
    private async Task OpenAsync(string token)
    {
        using var client = new BillingAdminClient(OptionsOf(5090, token));
        var limit = new CreditLimitChange(Account, new Amount(500, "USD"));
        Expect.Accepted(await KnownAsync(() => client.SetCreditLimitAsync(limit, cancellationToken: Token)));
    }

    private async Task<decimal> PayAsync(string token)
    {
        using var client = new BillingClient(OptionsOf(5000, token));
        var payment = new Payment(Account, new Amount(5, "USD"));
        return Expect.Accepted(await KnownAsync(() => client.PayAsync(payment, cancellationToken: Token)))
            .Balance.Value;
    }

    private static CardAccount Account { get; } = new(CardNetwork.Visa, "acct-42");

    private BillingClientOptions OptionsOf(int port, string token)
    {
        var options = new BillingClientOptions { Token = token, Proxies = { $"https://localhost:{_ports[port]}" } };
        options.Tls.CaFile = Credentials.CaFile;
        return options;
    }

    private static async Task<Outcome<T>> KnownAsync<T>(Func<Task<Outcome<T>>> send)
        where T : Answer
    {
        var started = TimeProvider.System.GetTimestamp();
        Outcome<T> result;
        do
        {
            result = await send();
        }
        while (result.Unknown is not null && TimeProvider.System.GetElapsedTime(started) < Patience);
        return result;
    }

    // Nobody has the name of the receiver.
    private async Task UntilEventsWaitAsync(int events)
    {
        var started = TimeProvider.System.GetTimestamp();
        ToolResult listed;
        do
        {
            listed = await ExternalTool.RunAsync(
                "bash",
                [
                    "-c",
                    $"podman run --rm --pull never --network {Project}_postgres "
                        + $"billing-operator:{ReleaseContract.Version} webhooks list --postgres "
                        + "\"$(<credentials/postgres)\"",
                ],
                _folder);
        }
        while (!listed.Output.Contains($"shop: {events} events wait", StringComparison.Ordinal)
            && TimeProvider.System.GetElapsedTime(started) < Patience);
        Assert.Contains($"shop: {events} events wait", listed.Output, StringComparison.Ordinal);
    }

    private Task<HttpStatusCode> GetBalanceAsync(int port, string? token) =>
        RequestAsync(HttpMethod.Get, port, "balance", null, token);

    private Task<HttpStatusCode> SetLimitAsync(int port, string? token) =>
        RequestAsync(HttpMethod.Put, port, "credit-limit", new JsonObject
        {
            ["transaction_id"] = Guid.NewGuid().ToString(),
            ["limit"] = new JsonObject { ["currency_code"] = "USD", ["units"] = "900" },
        }, token);

    private async Task<HttpStatusCode> RequestAsync(
        HttpMethod method, int port, string what, JsonObject? body, string? token)
    {
        using var request = new HttpRequestMessage(
            method, $"https://localhost:{_ports[port]}/v1/accounts/VISA/acct-42/{what}")
        {
            Content = body is null ? null : JsonContent.Create(body),
        };
        request.Headers.Authorization = token is null ? null : new AuthenticationHeaderValue("Bearer", token);
        using var response = await _http!.SendAsync(request, Token);
        return response.StatusCode;
    }

    private string Issue(params string[] scopes) =>
        Credentials.Token("trial", scopes, ["*/*"], TimeSpan.FromHours(1), TimeProvider.System);

    private int Free(string port) => _ports[int.Parse(port, CultureInfo.InvariantCulture)] = _free.Take();

    // Compose names what it makes after the folder.
    private string Project => Path.GetFileName(_folder).ToLowerInvariant();

    private Task<ToolResult> ComposeAsync(params string[] arguments) =>
        ExternalTool.RunAsync(
            "podman-compose",
            ["-f", Path.Combine(_folder, "compose.yaml"), "-f", Path.Combine(_folder, "webhooks.yaml"), .. arguments],
            _folder);

    [GeneratedRegex("\"(127\\.0\\.0\\.1:)?(?<host>\\d+):(?<container>\\d+)\"")]
    private static partial Regex Published();
}
