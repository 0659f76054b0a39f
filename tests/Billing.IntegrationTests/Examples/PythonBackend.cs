using System.Globalization;
using System.Text;
using Billing.Contracts;
using Billing.IntegrationTests.Services;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.V1;
using Confluent.Kafka;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Examples;

/// <summary>The balance backend of examples/python-backend, in a stack with the platform's own backends.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class PythonBackend
{
    // Debian's Python, because the backend needs its packages; another one may come first on the PATH.
    private const string Python = "/usr/bin/python3";

    private static readonly string Example = Path.Combine(Repository.Root, "examples/python-backend");

    private readonly KafkaStack _stack;

    public PythonBackend(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task It_answers_for_AMEX_accounts_like_the_platforms_backends_which_take_over_when_it_is_killed()
    {
        await using var folder = StackFolder.Create();
        var modules = await GenerateAsync(folder);
        var accounts = Enumerable.Range(0, 12).Select(_ => StackFixture.NewAccount()).ToList();
        await Task.WhenAll(accounts.Select(PayAndLimitAsync));
        var before = await AnswersAsync(accounts, version: 3);

        await using (var python = Start(folder, modules))
        {
            await python.WaitForOutputAsync(line => line.StartsWith("assigned ", StringComparison.Ordinal)
                && !line.EndsWith("nothing", StringComparison.Ordinal), Patience, CancellationToken.None);
            Assert.Equal(before, await AnswersAsync(accounts, version: 3));
            await python.WaitForOutputAsync(line => Answered(line) > 0, Patience, CancellationToken.None);

            await Task.WhenAll(accounts.Select(account => PayAsync(account, 2)));
            Assert.All(
                await AnswersAsync(accounts, version: 4),
                answer => Assert.Contains("balance 17.25", answer, StringComparison.Ordinal));
            await AssertInvalidRecordIsDeadLetteredAsync();
            python.Kill();
            await python.WaitForExitAsync(CancellationToken.None);
        }

        Assert.All(
            await AnswersAsync(accounts, version: 4),
            answer => Assert.Contains("balance 17.25", answer, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Its_own_tests_pass()
    {
        await using var folder = StackFolder.Create();
        var modules = await GenerateAsync(folder);

        var ran = await ExternalTool.RunAsync(Python, ["-m", "unittest"], Example, Environment(modules));

        Assert.Contains("OK", ran.Succeeded().Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("Ran 0 tests", ran.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task It_shuts_down_gracefully_on_request()
    {
        await using var folder = StackFolder.Create();
        await using var python = Start(folder, await GenerateAsync(folder));
        await python.WaitForOutputAsync(
            line => line.StartsWith("assigned ", StringComparison.Ordinal), Patience, CancellationToken.None);

        Assert.True(await python.StopAsync(Patience));

        Assert.Equal(0, python.ExitCode);
    }

    private static int Answered(string line) => line.StartsWith("answered ", StringComparison.Ordinal)
        ? int.Parse(line["answered ".Length..], CultureInfo.InvariantCulture)
        : 0;

    /// <summary>Generates the modules as the README of the example describes.</summary>
    private static async Task<string> GenerateAsync(StackFolder folder)
    {
        var protoc = ExternalTool.Need("protoc");
        Assert.SkipUnless(File.Exists(Python), $"there is no {Python}");
        var imports = await ExternalTool.RunAsync(Python, ["-c", "import confluent_kafka, google.protobuf"]);
        Assert.SkipUnless(imports.ExitCode == 0, "python3-confluent-kafka and python3-protobuf are not installed");
        var modules = folder.CreateSubfolder("modules");
        (await ExternalTool.RunAsync(protoc,
            [
                "-I", "src/Contracts/Protos", "-I", "src/Messaging/Protos", "--python_out", modules,
                "billing/v1/billing.proto", "billing/wire/v1/wire.proto",
            ])).Succeeded();
        return modules;
    }

    private ChildProcess Start(StackFolder folder, string modules) => ChildProcess.Start(new ChildProcessStart(
        "python", Python,
        [
            Path.Combine(Example, "balance_backend.py"), "--brokers",
            _stack.Stack.BootstrapServers!, "--session-timeout-ms", "3000",
        ],
        folder.LogFile("python"))
    {
        Environment = Environment(modules)
            .ToDictionary(variable => variable.Key, variable => (string?)variable.Value, StringComparer.Ordinal),
    });

    private static Dictionary<string, string> Environment(string modules) =>
        new(StringComparer.Ordinal) { ["PYTHONPATH"] = modules, ["PYTHONDONTWRITEBYTECODE"] = "1" };

    private async Task PayAndLimitAsync(string account)
    {
        await PayAsync(account, 15.25m);
        await PayAsync(account, 20_000);
        using var channel = GrpcChannel.ForAddress(_stack.Stack.ProxyAddresses[0]);
        await new BillingAdminService.BillingAdminServiceClient(channel).SetCreditLimitAsync(new SetCreditLimitRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = account,
            PaymentType = PaymentType.Amex,
            Limit = 500m.ToMoney("USD"),
        });
    }

    private async Task PayAsync(string account, decimal amount) =>
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment(account, amount, type: PaymentType.Amex));

    /// <summary>Returns the complete answers about accounts, without the times at which they were valid.</summary>
    private async Task<IReadOnlyList<string>> AnswersAsync(IReadOnlyList<string> accounts, long version) =>
        await Task.WhenAll(accounts.Select(account => AnswerAsync(account, version)));

    private async Task<string> AnswerAsync(string account, long version)
    {
        var client = _stack.Client(Patience);
        var balance = await client.CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = account, PaymentType = PaymentType.Amex, MinVersion = version });
        var answer = new StringBuilder();
        answer.Append(CultureInfo.InvariantCulture,
            $"version {balance.Version}, balance {balance.Balance.ToDecimal()} {balance.Balance.CurrencyCode}, "
                + $"available {balance.Available.ToDecimal()}, limit {balance.CreditLimit.ToDecimal()}");
        var pages = client.StreamStatementAsync(new ListStatementRequest
        {
            AccountId = account,
            PaymentType = PaymentType.Amex,
            AfterVersion = 1,
            PageSize = 1,
        });
        await foreach (var entry in pages.SelectMany(page => page.Entries).Take(2))
        {
            // Events have whole microseconds; the event store has tenths of a microsecond.
            entry.DecideTime.Nanos -= entry.DecideTime.Nanos % 1000;
            answer.Append('\n').Append(entry);
        }
        var list = new ListStatementRequest
        {
            AccountId = account,
            PaymentType = PaymentType.Amex,
            StartTime = new() { Seconds = 1 },
            Types_ = { StatementEntryType.PaymentAccepted, StatementEntryType.CreditLimitChanged },
            PageSize = 2,
        };
        do
        {
            var page = await client.ListStatementAsync(list);
            answer.Append("\npage ")
                .AppendJoin(' ', page.Entries.Select(entry => $"{entry.Version} {entry.Type} {entry.Balance}"));
            list.PageToken = page.NextPageToken;
        }
        while (list.PageToken.Length > 0);
        var (byVersion, byTime) = (
            new GetBalanceAtRequest
            {
                AccountId = account,
                PaymentType = PaymentType.Amex,
                Version = Math.Min(2, balance.Version),
            },
            new GetBalanceAtRequest { AccountId = account, PaymentType = PaymentType.Amex, Time = balance.ReadTime });
        foreach (var past in (GetBalanceAtResponse[])
        [
            await client.GetBalanceAtAsync(byVersion), await client.GetBalanceAtAsync(byTime),
        ])
        {
            if (past.DecideTime is { } decided)
            {
                decided.Nanos -= decided.Nanos % 1000;
            }
            answer.Append('\n').Append(past);
        }
        return answer.ToString();
    }

    /// <summary>Produces an invalid record to the topic's only partition, which is assigned to the example.</summary>
    private async Task AssertInvalidRecordIsDeadLetteredAsync()
    {
        var topic = Topics.Balances(PaymentType.Amex);
        var invalid = Encoding.UTF8.GetBytes("no command " + Guid.NewGuid());
        var servers = _stack.Stack.BootstrapServers;
        using var producer = KafkaClients.Producer<byte[], byte[]>(new ProducerConfig { BootstrapServers = servers });
        var origin = await producer.ProduceAsync(
            new TopicPartition(topic, 0), new Message<byte[], byte[]> { Key = "k"u8.ToArray(), Value = invalid });
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            new ConsumerConfig { BootstrapServers = servers, GroupId = "test-" + Guid.NewGuid() });
        consumer.Assign(new TopicPartitionOffset(Topics.DeadLetters, 0, Offset.Beginning));
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        Message<byte[], byte[]> letter;
        do
        {
            letter = consumer.Consume(patience.Token).Message;
        }
        while (!letter.Value.AsSpan().SequenceEqual(invalid));
        Assert.Equal(topic, Text(letter, DeadLetterPublisher.TopicHeader));
        Assert.Contains(
            Messaging.WireFormat.VersionHeader,
            Text(letter, DeadLetterPublisher.ReasonHeader), StringComparison.Ordinal);
        Assert.Equal(
            origin.Offset.Value.ToString(CultureInfo.InvariantCulture), Text(letter, DeadLetterPublisher.OffsetHeader));
    }

    private static string Text(Message<byte[], byte[]> letter, string header) =>
        Encoding.UTF8.GetString(letter.Headers.GetLastBytes(header));
}
