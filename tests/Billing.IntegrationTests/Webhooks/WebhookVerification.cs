using System.Globalization;
using System.Text.Json;
using Billing.IntegrationTests.Examples;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>The verifying library of Standard Webhooks for Node.js.</summary>
public sealed class VerifierInstallation() : NodeInstallation("tests/Billing.IntegrationTests/Webhooks/verifier");

/// <summary>A receiver that verifies events with a library that is not of this project.</summary>
public sealed class WebhookVerification(WebhookPlatform platform, VerifierInstallation verifier)
    : IClassFixture<WebhookPlatform>, IClassFixture<VerifierInstallation>
{
    private const string NewSecret = "whsec_bmV3IHNlY3JldCBvZiAzMiBieXRlcywgbm8gbGVzcyE=";

    [Fact]
    public async Task The_library_of_the_specification_accepts_events_under_both_secrets_and_refuses_altered_ones()
    {
        Assert.SkipWhen(platform.Missing is not null, platform.Missing ?? "");
        var node = await verifier.NodeAsync();
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        var accounts = WebhookPlatform.NewAccounts(5);
        await using var receiver = await new Receiver(platform.Ports.Take()).StartAsync();
        await platform.StartAsync(
            WebhookPlatform.NewSchema(), receiver.Url,
            settings: ("Receivers__shop__Secret", $"{NewSecret} {WebhookPlatform.Secret}"));

        await platform.PublishAsync(accounts, 1, 4);
        await receiver.UntilTakenAsync(accounts, 4, patience.Token);
        await platform.StopAsync();

        var taken = receiver.Taken;
        Assert.Equal(20, await GenuineAsync(node, WebhookPlatform.Secret, taken));
        Assert.Equal(20, await GenuineAsync(node, NewSecret, taken));
        Assert.Equal(0, await GenuineAsync(
            node, WebhookPlatform.Secret,
            [
                .. taken.Select(
                    event_ => event_ with { Body = event_.Body.Replace("USD", "EUR", StringComparison.Ordinal) }),
            ]));
        Assert.Equal(0, await GenuineAsync(
            node, WebhookPlatform.Secret, [.. taken.Select(event_ => event_ with { Id = event_.Id + "0" })]));
    }

    private async Task<int> GenuineAsync(string node, string secret, IReadOnlyList<Received> received)
    {
        var requests = received.Select(request =>
            new { id = request.Id, timestamp = request.Timestamp, signature = request.Signature, body = request.Body });
        var output = await new Tool(node).RunAsync(
            [Path.Combine(verifier.Path, "verify.mjs")], TestContext.Current.CancellationToken,
            JsonSerializer.Serialize(new { secret, requests }));
        return int.Parse(output, CultureInfo.InvariantCulture);
    }
}
