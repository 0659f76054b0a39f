using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>The programs under examples/dotnet, run unchanged against the platform.</summary>
[Collection(InOneProcess.Name)]
public sealed class SdkExamples(EmbeddedStack stack) : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task The_console_program_makes_a_payment_and_prints_its_outcome()
    {
        var account = StackFixture.NewAccount();

        var paid = await PayAsync(account, "9990");
        var declined = await PayAsync(account, "10.01");

        Assert.Equal(
            [
                $"accepted: visa/{account} owes 9990 USD", "available: 10 USD",
                "1 PaymentAccepted 9990 USD, owes 9990 USD",
            ],
            paid.Lines);
        Assert.Equal(
            [
                "declined: The amount is more than the account may still spend.",
                "1 PaymentAccepted 9990 USD, owes 9990 USD",
                "2 PaymentDeclined 10.01 USD, owes 9990 USD",
            ],
            declined.Lines);
        Assert.Equal((0, 1), (paid.ExitCode, declined.ExitCode));
    }

    /// <summary>With the warnings of trimming and of compilation ahead of time as errors. Takes a minute of a core,
    /// and builds have run the analyzers for both: it runs with <c>-explicit only</c>.</summary>
    [Fact(Explicit = true)]
    public async Task The_console_program_makes_a_payment_when_it_is_compiled_ahead_of_time()
    {
        ExternalTool.Need("gcc");
        var program = Path.Combine(_folder.FullName, "native");
        var published = await ExternalTool.RunAsync("dotnet",
        [
            "publish", "examples/dotnet/Console", "-c", "Release",
            "--use-current-runtime", "-o", program, "--disable-build-servers",
            "-p:PublishAot=true", "-p:CppCompilerAndLinker=gcc", "-p:UseAppHost=true",
            // Beside ordinary builds, whose lock files have nothing for this and which have run the analyzers.
            "-p:ArtifactsPath=" + Path.Combine(Repository.Root, "artifacts", "native"), "-p:RunAnalyzers=false",
            "-p:RestorePackagesWithLockFile=false", "-p:RestoreLockedMode=false", "-p:NuGetLockFilePath=none",
        ]);
        Assert.SkipWhen(
            published.ExitCode != 0 && published.Output.Contains("ILCompiler", StringComparison.Ordinal)
                && published.Output.Contains("NU110", StringComparison.Ordinal),
            "the package registry lacks the compiler");
        published.Succeeded();
        var account = StackFixture.NewAccount();

        var paid = await ExternalTool.RunAsync(
            Path.Combine(program, "Billing.Examples.Console"),
            [string.Join(',', stack.Stack.ProxyAddresses), account, "12.34"]);

        Assert.Equal($"accepted: visa/{account} owes 12.34 USD", paid.Succeeded().Output.Split('\n')[0]);
    }

    [Fact]
    public async Task The_shop_charges_an_order_once_however_often_it_is_sent()
    {
        using var ports = new FreePorts();
        var address = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{ports.Take()}");
        await using var shop = Start(
            "Billing.Examples.Web", "--urls", address, "--Billing:Client:Proxies:0", stack.Stack.ProxyAddresses[0]);
        using var http = new HttpClient { BaseAddress = new Uri(address) };
        await shop.WaitUntilAsync(
            cancellationToken => AnswersAsync(http, cancellationToken), Patience, CancellationToken.None);
        var account = StackFixture.NewAccount();
        var order = $"orders/{Guid.NewGuid()}/payment";

        var first = await PutAsync(http, order, account, 12.34m);
        var again = await PutAsync(http, order, account, 12.34m);
        var other = await PutAsync(http, order, account, 12.35m);
        var tooMuch = await PutAsync(http, $"orders/{Guid.NewGuid()}/payment", account, 10_000);
        var wrong = await PutAsync(http, $"orders/{Guid.NewGuid()}/payment", account, -1);
        var balance = await http.GetFromJsonAsync<JsonElement>($"accounts/{account}/balance");

        Assert.Equal(
            [
                HttpStatusCode.OK, HttpStatusCode.OK, HttpStatusCode.Conflict,
                HttpStatusCode.PaymentRequired, HttpStatusCode.BadRequest,
            ],
            new[] { first, again, other, tooMuch, wrong }.Select(answer => answer.Status));
        Assert.Equal("""{"state":"paid","balance":12.34,"currency":"USD"}""", first.Body);
        Assert.Equal(first.Body, again.Body);
        Assert.Contains("amount must be more than zero", wrong.Body, StringComparison.Ordinal);
        Assert.Equal(12.34m, balance.GetProperty("balance").GetDecimal());
    }

    private static async Task<bool> AnswersAsync(HttpClient http, CancellationToken cancellationToken)
    {
        try
        {
            using var answer = await http.GetAsync("/", cancellationToken);
            return true;
        }
        catch (HttpRequestException)
        {
            return false;
        }
    }

    private static async Task<(HttpStatusCode Status, string Body)> PutAsync(
        HttpClient http, string order, string account, decimal amount)
    {
        using var answer = await http.PutAsJsonAsync(order, new { account, amount, currency = "USD" });
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }

    private async Task<(int? ExitCode, string[] Lines)> PayAsync(string account, string amount)
    {
        await using var process = Start(
            "Billing.Examples.Console", string.Join(',', stack.Stack.ProxyAddresses), account, amount);
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForExitAsync(patience.Token);
        return (process.ExitCode, await File.ReadAllLinesAsync(process.LogFile, CancellationToken.None));
    }

    private ChildProcess Start(string program, params string[] arguments) => ChildProcess.Start(new ChildProcessStart(
        program, "dotnet", [DotnetProgram.FileOf(program), .. arguments],
        _folder.LogFile($"{program}-{Guid.NewGuid():N}")));
}
