using Billing.IntegrationTests.Services;

namespace Billing.IntegrationTests.Examples;

/// <summary>Runs the commands of docs/by-hand.md.</summary>
[Collection(OverKafka.Name)]
public sealed class ByHand(KafkaStack stack)
{
    private const string Page = "docs/by-hand.md";

    [Fact]
    public async Task The_commands_of_the_page_print_the_output_that_it_shows()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        ExternalTool.Need("curl");
        var tools = Path.GetDirectoryName(ExternalTool.Need("grpcurl"));
        var page = new ConsolePage(Page, "console");

        page.Compare(page.Examples, await ConsolePage.RunAsync(
            page.Examples, ForThisStack, Environment.CurrentDirectory, $"PATH='{tools}':$PATH"));
    }

    [Fact]
    public void The_page_mentions_every_method_and_every_route()
    {
        var page = string.Join('\n', Repository.Lines(Page));
        var methods = V1.BillingReflection.Descriptor.Services
            .SelectMany(s => s.Methods).Select(m => $"{m.Service.Name}/{m.Name}");
        Assert.All(methods, method => Assert.Contains(method, page, StringComparison.Ordinal));
        Assert.All(
            [
                "v1/payments/", "v1/authorisations/", "v1/captures/", "v1/voids/", "v1/refunds/", "/balance",
                "v1/balances/lookup", "/statement", "v1/statements/lookup", "/credit-limit", "respond-async", "/status",
                "/health/live", "/health/ready", "/openapi/v1.json", "/docs",
            ],
            route => Assert.Contains(route, page, StringComparison.Ordinal));
    }

    /// <summary>Replaces the addresses of the page's stack with those of this test's stack.</summary>
    private string ForThisStack(string command) => command switch
    {
        _ when command.StartsWith("GRPC=", StringComparison.Ordinal) =>
            "GRPC=" + new Uri(stack.Stack.ProxyAddresses[0]).Authority,
        _ when command.StartsWith("REST=", StringComparison.Ordinal) => "REST=" + stack.Stack.RestAddresses[0],
        _ => command,
    };
}
