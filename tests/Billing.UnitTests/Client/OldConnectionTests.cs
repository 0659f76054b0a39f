using System.Threading.Channels;
using Billing.Client;
using Billing.UnitTests.Proxy.Connections;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Client;

/// <summary>Clients whose proxy ends connections because of their age. They make no retries here: what a client does
/// about an old connection is none.</summary>
public sealed class OldConnectionTests
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct-42");

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Calls_and_a_run_of_payments_go_on_over_other_connections_and_nothing_is_doubled(bool tls)
    {
        const int Ages = 5;
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var client = Client(proxy, connections);
        var requests = Channel.CreateUnbounded<Payment>();
        await using var answers = client.PayAllAsync(requests.Reader.ReadAllAsync(Stop), Stop)
            .GetAsyncEnumerator(Stop);
        var made = 0;

        for (var age = 1; age <= Ages; age++)
        {
            await PayBothWaysAsync();
            proxy.Time.Advance(AgedProxy.Old);
            await PayUntilAsync(() => connections.Opened > age);
            // Now its streams end.
            proxy.Time.Advance(AgedProxy.Told);
            await PayUntilAsync(() => connections.Closed >= age);
        }

        requests.Writer.Complete();
        Assert.False(await answers.MoveNextAsync());
        Assert.Equal(made, proxy.Backend.Commands.Count);
        Assert.Equal(made, proxy.Backend.Commands.DistinctBy(command => command.TransactionId).Count());

        Task PayUntilAsync(Func<bool> isSo) => Poll.UntilAsync(
            async () =>
            {
                await PayBothWaysAsync();
                return isSo();
            },
            Stop);

        async Task PayBothWaysAsync()
        {
            made += 2;
            Accepted(await client.PayAsync(new Payment(Account, new Amount(1, "USD"))));
            await requests.Writer.WriteAsync(new Payment(Account, new Amount(1, "USD")), Stop);
            Assert.True(await answers.MoveNextAsync());
            Accepted(answers.Current);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_statement_is_read_on_over_another_connection_from_where_the_old_one_ended(bool tls)
    {
        const int Last = 10;
        await using var proxy = await AgedProxy.StartAsync(tls);
        proxy.Backend.Answer = command =>
        {
            var version = command.Statement.AfterVersion + 1;
            if (version == Last / 2)
            {
                proxy.Time.Advance(AgedProxy.Old);
            }
            var page = new Wire.V1.StatementPage { HasMore = version < Last };
            page.Entries.Add(new V1.StatementEntry { Version = version, TransactionId = Samples.TransactionId });
            return Task.FromResult(new Reply { Statement = page });
        };
        using var client = Client(proxy, new CountedConnections());
        var versions = new List<long>();

        await foreach (var line in client.ReadStatementAsync(Account, cancellationToken: Stop))
        {
            versions.Add(line.Version);
        }

        Assert.Equal(Enumerable.Range(1, Last).Select(version => (long)version), versions);
        Assert.Equal(Last, proxy.Backend.Commands.Count);
        Assert.Equal(0, client.Retried);
    }

    private static void Accepted(Outcome<PaymentAnswer> outcome) => Assert.False(
        outcome.Match(
            accepted: answer => answer.IsReplay, declined: _ => true, rejected: _ => true, unknown: _ => true),
        outcome.ToString());

    private static BillingClient Client(AgedProxy proxy, CountedConnections connections)
    {
        var options = new BillingClientOptions
        {
            Proxies = { proxy.At(Front.Grpc).ToString() },
            RetriesMax = 0,
            Token = proxy.Token(TimeSpan.FromDays(30)),
            HttpHandler = connections.On,
        };
        options.Tls.CaFile = proxy.CaFile;
        return new BillingClient(options, TimeProvider.System);
    }
}
