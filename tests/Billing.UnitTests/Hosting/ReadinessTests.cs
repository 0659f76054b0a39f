using Billing.Hosting;
using Billing.UnitTests.Testing;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Hosting;

public sealed class ReadinessTests
{
    [Fact]
    public async Task Readiness_lists_the_reasons_of_the_parts_that_are_not_ready() =>
        Assert.Equal(
            (503, "not ready: the view is being built; no brokers"),
            await GetAsync("/health/ready", "the view is being built", null, "no brokers"));

    [Fact]
    public async Task Readiness_succeeds_when_all_parts_are_ready() =>
        Assert.Equal((200, "ready"), await GetAsync("/health/ready", null, null));

    [Theory]
    [InlineData("/health/ready", "not ready: reading failed; the log says why")]
    [InlineData("/health/live", "not live: reading failed; the log says why")]
    public async Task Health_checks_name_the_loop_that_failed_and_not_the_text_of_its_exception(
        string path, string expected)
    {
        var exitCode = Environment.ExitCode;
        using var supervisor = Supervision.New();
        supervisor.Fail("reading", new IOException("planted"));
        supervisor.Fail("writing", new IOException("a consequence"));
        Environment.ExitCode = exitCode;

        Assert.Equal((503, expected), await GetOfAsync(path, supervisor));
    }

    [Fact]
    public async Task A_process_that_is_not_ready_is_live() =>
        Assert.Equal((200, "live"), await GetAsync("/health/live", "starting"));

    private static async Task<(int Status, string Text)> GetAsync(string path, params string?[] reasons)
    {
        using var supervisor = Supervision.New();
        return await GetOfAsync(path, supervisor, reasons);
    }

    private static async Task<(int Status, string Text)> GetOfAsync(
        string path, Supervisor supervisor, params string?[] reasons)
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

    private sealed record Part(string? NotReadyReason) : IReadyPart;
}
