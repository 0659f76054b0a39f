using System.Globalization;
using Billing.IntegrationTests.Examples;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>A stack that sends its events to a receiver, as <c>./billing up --webhook URL</c> starts it.</summary>
public sealed class WebhookStack
{
    /// <summary>The life of a payment in docs/by-hand.md.</summary>
    [Fact]
    public async Task What_happens_to_a_payment_is_in_its_statement_arrives_at_a_receiver_and_is_verified_and_exported()
    {
        Assert.SkipWhen(
            KafkaPrograms.FindHome() is null,
            "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive");
        ExternalTool.Need("curl");
        ExternalTool.Need("python3");
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        using var ports = new FreePorts();
        await using var folder = StackFolder.Create();
        var port = ports.Take().ToString(CultureInfo.InvariantCulture);
        var webhook = WebhookTarget.New($"http://127.0.0.1:{port}/");
        await using var stack = await BillingStack.StartAsync(
            new StackOptions { Proxies = 1, PaymentBackends = 1, BalanceBackends = 1, Webhook = webhook },
            new Progress<string>(), patience.Token);
        var day = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime).AddDays(-1)
            .ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
        var page = new ConsolePage("docs/by-hand.md", "shell-session");
        var today =
            page.Examples.TakeWhile(example => !example.Command.StartsWith("DAY=", StringComparison.Ordinal)).ToList();
        var dayAfter = page.Examples[today.Count..];

        page.Compare(
            today, await ConsolePage.RunAsync(today, ForThisStack, folder.FullName, "trap 'kill $(jobs -p)' EXIT"));
        await using (var database = NpgsqlDataSource.Create(stack.Databases.Values.Single()))
        {
            await using var yesterday = database.CreateCommand(
                "update billing.mt_events set timestamp = $1 where stream_id <> 'mt_tombstone'");
            yesterday.Parameters.AddWithValue(
                DateTime.Parse(day + "T12:00:00Z", CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal));
            Assert.Equal(3, await yesterday.ExecuteNonQueryAsync(patience.Token));
        }
        page.Compare(dayAfter, await ConsolePage.RunAsync(dayAfter, ForThisStack, folder.FullName, ""));

        string ForThisStack(string command) => command switch
        {
            _ when command.StartsWith("REST=", StringComparison.Ordinal) => "REST=" + stack.RestAddresses[0],
            _ when command.StartsWith("SECRET=", StringComparison.Ordinal) => "SECRET=" + webhook.Secret,
            _ when command.StartsWith("DAY=", StringComparison.Ordinal) => "DAY=" + day,
            _ when command.StartsWith("./billing ", StringComparison.Ordinal) =>
                $"dotnet '{DotnetProgram.FileOf("Billing.Cli")}' {command["./billing ".Length..]} --postgres "
                + $"'{stack.Databases.Values.Single()}'",
            _ => command.Replace("8099", port, StringComparison.Ordinal)
                .Replace("examples/", Repository.Root + "/examples/", StringComparison.Ordinal),
        };
    }

    [Fact]
    public async Task A_stack_without_a_topic_of_events_does_not_start_with_a_receiver()
    {
        var failure = await Assert.ThrowsAsync<StackException>(() => BillingStack.StartAsync(
            new StackOptions { Kafka = "embedded", Webhook = WebhookTarget.New("http://localhost:1/") },
            new Progress<string>(), TestContext.Current.CancellationToken));

        Assert.Contains("which the transport embedded does not have", failure.Message, StringComparison.Ordinal);
    }
}
