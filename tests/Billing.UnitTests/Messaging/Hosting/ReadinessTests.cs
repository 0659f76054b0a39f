using Billing.Messaging.Hosting;
using Billing.UnitTests.Testing;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Messaging.Hosting;

public sealed class ReadinessTests
{
    [Fact]
    public async Task What_is_not_ready_says_why() =>
        Assert.Equal((503, "not ready: the view is being built; no brokers"), await AskAsync("/health/ready", "the view is being built", null, "no brokers"));

    [Fact]
    public async Task What_is_ready_says_so() => Assert.Equal((200, "ready"), await AskAsync("/health/ready", null, null));

    [Theory]
    [InlineData("/health/ready", "not ready: reading failed: planted")]
    [InlineData("/health/live", "not live: reading failed: planted")]
    public async Task A_process_whose_loop_has_failed_says_which_and_why(string path, string said)
    {
        var exitCode = Environment.ExitCode;
        using var supervisor = Supervision.New();
        supervisor.Fail("reading", new IOException("planted"));
        supervisor.Fail("writing", new IOException("because of it"));
        Environment.ExitCode = exitCode;

        Assert.Equal((503, said), await AskOfAsync(path, supervisor));
    }

    [Fact]
    public async Task A_process_that_is_not_ready_lives() => Assert.Equal((200, "live"), await AskAsync("/health/live", "starting"));

    private static async Task<(int Status, string Text)> AskAsync(string path, params string?[] reasons)
    {
        using var supervisor = Supervision.New();
        return await AskOfAsync(path, supervisor, reasons);
    }

    private static async Task<(int Status, string Text)> AskOfAsync(string path, Supervisor supervisor, params string?[] reasons)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        await using var app = builder.Build();
        new Readiness(reasons.Select(r => new Part(r)), supervisor).Map(app);
        app.Urls.Add("http://127.0.0.1:0");
        await app.StartAsync();
        using var http = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };
        using var response = await http.GetAsync(new Uri(path, UriKind.Relative));
        return ((int)response.StatusCode, await response.Content.ReadAsStringAsync());
    }

    private sealed record Part(string? WhyNotReady) : IReadyPart;
}
