using Billing.IntegrationTests.Services;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Operator.Doctor;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Npgsql;

namespace Billing.IntegrationTests.Operator;

/// <summary>What <c>./billing doctor</c> finds out by asking a database.</summary>
[Collection(OverEventStore.Name)]
public sealed class DatabaseExaminations(EventStoreFixture store)
{
    private static readonly string[] OfOneServer =
    [
        "archive_mode, archive_command", "tiers={postgres={count=2}}; --postgres-replicas 2",
        "SSL Mode in Billing:EventStore:ConnectionString",
    ];

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("fsync")]
    [InlineData("full_page_writes")]
    [InlineData("synchronous_commit")]
    public async Task A_database_that_acknowledges_what_is_on_no_disk_is_serious(string setting)
    {
        await using var source = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        Assert.Equal(OfOneServer, (await AskAsync(store.Postgres.ConnectionString)).Select(finding => finding.Setting));
        await SetAsync(source, $"alter system set {setting} = off", setting, "off");
        try
        {
            var found = await AskAsync(store.Postgres.ConnectionString);

            Assert.Equal(setting, Assert.Single(found, finding => finding.IsSerious).Setting);
        }
        finally
        {
            await SetAsync(source, $"alter system reset {setting}", setting, "on");
        }
    }

    [Fact]
    public async Task A_role_to_which_a_database_acknowledges_what_is_on_no_disk_is_found()
    {
        await store.ExecuteAsync("create role hasty; alter role hasty set synchronous_commit = off");
        try
        {
            var found = await AskAsync(store.Postgres.ConnectionString);

            Assert.Contains(
                "the role hasty", Assert.Single(found, finding => finding.Setting == "synchronous_commit").What,
                StringComparison.Ordinal);
        }
        finally
        {
            await store.ExecuteAsync("drop role hasty");
        }
    }

    [Fact]
    public async Task A_database_whose_log_cannot_be_archived_is_serious()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(
            folder, ports, settings: new Dictionary<string, string>
            {
                ["wal_level"] = "replica",
                ["archive_mode"] = "on",
                ["archive_command"] = "false",
            });
        await using var source = NpgsqlDataSource.Create(postgres.ConnectionString);
        await using (var write = source.CreateCommand("create table planted (id int); select pg_switch_wal()"))
        {
            await write.ExecuteNonQueryAsync(Stop);
        }
        await using var failed = source.CreateCommand("select last_failed_time is not null from pg_stat_archiver");
        while (!(bool)(await failed.ExecuteScalarAsync(Stop))!)
        {
            await Task.Yield();
        }

        var found = await AskAsync(postgres.ConnectionString);

        Assert.Equal("archive_command", Assert.Single(found, finding => finding.IsSerious).Setting);
    }

    [Fact]
    public async Task A_database_that_does_not_answer_is_serious()
    {
        var found = await AskAsync(
            new NpgsqlConnectionStringBuilder(store.Postgres.ConnectionString) { Password = "wrong" }.ConnectionString);

        Assert.Equal((true, "Billing:EventStore:ConnectionString"), (Assert.Single(found).IsSerious, found[0].Setting));
    }

    private static Task<IReadOnlyList<Finding>> AskAsync(string connectionString) =>
        PostgresChecks.OfAsync("billing", connectionString, Stop);

    // New sessions of a server see a changed setting once it has read its files.
    private static async Task SetAsync(NpgsqlDataSource source, string statement, string setting, string until)
    {
        await using var change = source.CreateCommand(statement);
        await change.ExecuteNonQueryAsync(Stop);
        await using var reload = source.CreateCommand("select pg_reload_conf()");
        await reload.ExecuteNonQueryAsync(Stop);
        await using var read = source.CreateCommand($"select reset_val from pg_settings where name = '{setting}'");
        while ((string)(await read.ExecuteScalarAsync(Stop))! != until)
        {
            await Task.Yield();
        }
    }
}

/// <summary>What it finds out by asking the brokers.</summary>
[Collection(OverKafka.Name)]
public sealed class BrokerExaminations
{
    private readonly KafkaStack _stack;

    public BrokerExaminations(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Theory]
    [InlineData("retention.ms", "60000", true)]
    [InlineData("cleanup.policy", "compact", true)]
    [InlineData("unclean.leader.election.enable", "true", true)]
    [InlineData("flush.messages", "1000", false)]
    public async Task A_topic_that_may_lose_records_is_found(string setting, string wrong, bool isSerious)
    {
        var topic = Topics.Payments(V1.PaymentType.Discover);
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        var described = await admin.DescribeConfigsAsync(
            [new ConfigResource { Type = ResourceType.Topic, Name = topic }]);
        var right = described.Single().Entries[setting].Value;
        Assert.DoesNotContain(await AskAsync(), finding => finding.Setting == setting);
        await _stack.SetTopicAsync(topic, setting, wrong);
        try
        {
            var found = Assert.Single(await AskAsync(), finding => finding.Setting == setting);

            Assert.Equal(isSerious, found.IsSerious);
            Assert.Contains(topic, found.What, StringComparison.Ordinal);
        }
        finally
        {
            await _stack.SetTopicAsync(topic, setting, right);
        }
    }

    [Fact]
    public async Task Brokers_without_TLS_and_too_few_of_them_are_found_and_dead_letters()
    {
        using var producer = KafkaClients.Producer<string, byte[]>(
            new ProducerConfig { BootstrapServers = _stack.Stack.BootstrapServers, Acks = Acks.All });
        await producer.ProduceAsync(Topics.DeadLetters, new Message<string, byte[]> { Key = "key", Value = [1] });

        var found = (await AskAsync()).Select(finding => finding.Setting);

        Assert.Equal(
            [
                "Billing:Kafka:Properties:security.protocol",
                "tiers={kafka={count=3}}; --brokers 3", "./billing dead-letters list",
            ],
            found);
    }

    [Fact]
    public async Task Brokers_that_do_not_answer_are_serious()
    {
        var found = await KafkaChecks.OfAsync(
            new KafkaOptions { BootstrapServers = "127.0.0.1:1", StartTimeout = TimeSpan.FromSeconds(1) },
            TimeProvider.System);

        Assert.Equal((true, "Billing:Kafka:BootstrapServers"), (Assert.Single(found).IsSerious, found[0].Setting));
    }

    private Task<IReadOnlyList<Finding>> AskAsync() => KafkaChecks.OfAsync(
        new KafkaOptions { BootstrapServers = _stack.Stack.BootstrapServers! }, TimeProvider.System);
}
