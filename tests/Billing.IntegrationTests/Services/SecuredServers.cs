using Billing.Hosting;
using Billing.LocalStack;
using Billing.LocalStack.Credentials;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Operator.Credentials;
using Billing.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;
using Metadata = Grpc.Core.Metadata;

namespace Billing.IntegrationTests.Services;

/// <summary>A stack in which all connections use TLS and all clients must authenticate.</summary>
public sealed class SecuredStack() : KafkaFixture(new StackOptions
{
    Proxies = 2,
    PaymentBackends = 1,
    BalanceBackends = 1,
    Secured = true,
    // Shorter than in operation, so that a test does not have to wait long.
    Settings = new Dictionary<string, string> { ["Billing__Limits__HeadersTimeout"] = "00:00:01" },
})
{
    public StackCredentials Credentials => Stack.Credentials!;

    /// <summary>Creates a channel that trusts the stack's certificate authority.</summary>
    public GrpcChannel Channel() => Keep(GrpcChannel.ForAddress(
        Stack.ProxyAddresses[0],
        new GrpcChannelOptions { HttpHandler = Credentials.Handler(), DisposeHttpClient = true }));

    public Metadata Bearer(string scopes, string accounts) =>
        new() { { "authorization", "Bearer " + Token(scopes, accounts) } };

    public string Token(string scopes, string accounts) =>
        Credentials.Token("somebody", scopes.Split(' '), [accounts], TimeSpan.FromMinutes(10), TimeProvider.System);
}

/// <summary>Kafka over TLS and SASL with an access list, PostgreSQL over TLS, proxies with TLS and tokens.</summary>
[Collection(OverTls.Name)]
public sealed class SecuredServers(SecuredStack stack)
{
    private readonly SecuredStack _stack =
        stack.Missing is null ? stack : throw Xunit.Sdk.SkipException.ForSkip(stack.Missing);

    [Fact]
    public async Task A_payment_and_its_balance_use_TLS_on_every_connection()
    {
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var headers = _stack.Bearer("payments:write accounts:read", "*/*");
        var payment = StackFixture.Payment();

        var paid = await client.MakePaymentAsync(payment, headers);
        var balance = await client.CheckBalanceAsync(
            new CheckBalanceRequest
            {
                AccountId = payment.AccountId,
                PaymentType = payment.PaymentType,
                MinVersion = paid.Version,
            },
            headers);

        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(payment.Amount, balance.Balance);
        Assert.Equal(1, await EncryptedSessionsAsync(minimum: 1));
    }

    [Fact]
    public async Task Who_sent_a_payment_or_froze_the_account_is_recorded_and_told_to_administrators_and_by_the_audit()
    {
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var payment = StackFixture.Payment();
        await client.MakePaymentAsync(payment, _stack.Bearer("payments:write", "*/*"));
        using var admin = GrpcChannel.ForAddress(
            _stack.Stack.AdminAddresses[0],
            new() { HttpHandler = _stack.Credentials.Handler(), DisposeHttpClient = true });
        var freeze = new SetAccountStatusRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            AccountStatus = AccountStatus.Frozen,
        };
        await new BillingAdminService.BillingAdminServiceClient(admin).SetAccountStatusAsync(
            freeze, _stack.Bearer("accounts:manage", "*/*"));
        var request = new ListStatementRequest { AccountId = payment.AccountId, PaymentType = payment.PaymentType };

        var told = await EntryAsync(client, request, _stack.Bearer("accounts:read operations:read", "*/*"));
        var untold = await EntryAsync(client, request, _stack.Bearer("accounts:read", "*/*"));
        var (exitCode, output) = await CommandRun.ToEndAsync(
            _stack.Stack.Folder,
            ["audit", "--who", $"{payment.PaymentType}/{payment.AccountId}", "--postgres", _stack.ConnectionString]);

        Assert.Equal(
            (payment.TransactionId, new Principal { Subject = "somebody" }), (told.TransactionId, told.Principal));
        Assert.Equal((payment.TransactionId, null), (untold.TransactionId, untold.Principal));
        Assert.Equal(0, exitCode);
        Assert.Contains($"{payment.TransactionId}  somebody", output, StringComparison.Ordinal);
        Assert.Matches($@"2  \S+ \S+Z  Frozen +{freeze.TransactionId}  somebody", output);
        Assert.Contains($"2 events of {payment.PaymentType}/{payment.AccountId}.", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_proxy_exposes_for_how_long_its_certificate_is_valid()
    {
        using var http =
            new HttpClient(_stack.Credentials.Handler()) { BaseAddress = new Uri(_stack.Stack.AdminAddresses[0]) };
        http.DefaultRequestHeaders.Authorization = new("Bearer", _stack.Token("operations:read", "*/*"));

        var metrics = await http.GetStringAsync(
            new Uri("/metrics", UriKind.Relative), TestContext.Current.CancellationToken);

        Assert.Matches("(?m)^billing_auth_keys_age_seconds{.*} [0-9]", metrics);
        Assert.Matches("(?m)^billing_tls_validity_seconds{.*billing_tls_file=\"certificate\".*} [0-9]{6}", metrics);
    }

    [Theory]
    [InlineData("operator", "billing.replies.")]
    [InlineData("operator", "billing.dead-letters")]
    [InlineData("balance-backend", "billing.payments.visa")]
    [InlineData("balance-backend", "billing.events")]
    [InlineData("payment-backend", "billing.balances.visa")]
    [InlineData("proxy-1", "billing.events")]
    public async Task A_user_of_the_brokers_cannot_produce_to_a_topic_without_permission(string user, string topic)
    {
        using var producer = KafkaClients.Producer<Null, string>(new ProducerConfig(await PropertiesAsync(user)));

        var refused = await Assert.ThrowsAsync<ProduceException<Null, string>>(
            () => producer.ProduceAsync(Existing(topic), new Message<Null, string> { Value = "forged" }));

        Assert.Equal(ErrorCode.TopicAuthorizationFailed, refused.Error.Code);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(1, 2)]
    [InlineData(2, 1)]
    public async Task A_proxy_reads_and_writes_its_own_reply_topic_and_no_other(int user, int owner)
    {
        var name = DeploymentCredentials.ProxyName(user);
        var topic = Existing(ProxyId.ReplyTopic(DeploymentCredentials.ProxyName(owner), ""));
        var properties = await PropertiesAsync(name);
        using var producer = KafkaClients.Producer<Null, byte[]>(new ProducerConfig(properties));
        using var consumer = KafkaClients.Consumer<Ignore, byte[]>(
            new ConsumerConfig(properties) { GroupId = ProxyId.ReplyTopic(name, "test"), EnableAutoCommit = false });
        consumer.Assign(new TopicPartitionOffset(topic, 0, 0));

        var written = await CodeAsync(() => producer.ProduceAsync(topic, new Message<Null, byte[]> { Value = [] }));
        var read = await CodeAsync(() => Task.Run(() => Assert.NotNull(consumer.Consume(Patience))));

        Assert.Equal(
            user == owner
                ? (ErrorCode.NoError, ErrorCode.NoError)
                : (ErrorCode.TopicAuthorizationFailed, ErrorCode.TopicAuthorizationFailed),
            (written, read));
    }

    [Fact]
    public async Task A_proxy_cannot_delete_the_reply_topic_of_another_one()
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig(await PropertiesAsync("proxy-1")));

        var refused = await Assert.ThrowsAsync<DeleteTopicsException>(
            () => admin.DeleteTopicsAsync([Existing(ProxyId.ReplyTopic("proxy-2", ""))]));

        Assert.Equal(ErrorCode.TopicAuthorizationFailed, refused.Results[0].Error.Code);
    }

    [Theory]
    [InlineData("a wrong password", "sasl.password", "wrong")]
    [InlineData("no such user", "sasl.username", "stranger")]
    [InlineData("no TLS", "security.protocol", "PLAINTEXT")]
    [InlineData("another authority", "ssl.ca.location", null)]
    public async Task The_brokers_reject_clients_without_valid_credentials(string what, string property, string? value)
    {
        var properties = await PropertiesAsync("proxy-1");
        using var stranger = new CertificateAuthority("Another CA", TimeProvider.System);
        var file = Path.GetTempFileName();
        await File.WriteAllTextAsync(file, stranger.Pem, TestContext.Current.CancellationToken);
        properties[property] = value ?? file;
        using var admin = KafkaClients.Admin(new AdminClientConfig(properties));

        Assert.True(Record.Exception(() => admin.GetMetadata(TimeSpan.FromSeconds(2))) is KafkaException, what);
        File.Delete(file);
    }

    [Fact]
    public async Task A_client_uses_the_former_password_until_the_brokers_have_the_new_one_and_then_that()
    {
        var options = await ChangingAsync("proxy-1", "of-now", former: "of-before");
        // The next question needs a new connection.
        options.Properties["connections.max.idle.ms"] = "1000";
        var refusals = 0;
        await SetPasswordAsync("proxy-1", "of-before");
        using var client = KafkaClients.Admin(
            options.Admin("changing"), e => refusals += e.Code == ErrorCode.Local_Authentication ? 1 : 0);

        Assert.NotEmpty(client.GetMetadata(Patience).Brokers);
        var before = refusals;
        await SetPasswordAsync("proxy-1", "of-now");
        await Poll.LastAsync(
            () =>
            {
                try
                {
                    client.GetMetadata(Patience);
                }
                catch (KafkaException e) when (e.Error.Code == ErrorCode.Local_Authentication)
                {
                    // That was the refusal: the next connection has the other password.
                }
                return Task.FromResult(refusals);
            },
            refusals => refusals != before, Patience,
            // Longer than a connection may be idle.
            interval: TimeSpan.FromSeconds(2));

        Assert.NotEqual(before, refusals);
        Assert.NotEmpty(client.GetMetadata(Patience).Brokers);
        Assert.InRange(before, 1, 100);
    }

    [Fact]
    public async Task A_balance_backend_that_starts_before_the_brokers_have_its_new_password_follows_the_events()
    {
        await SetPasswordAsync("balance-backend", "former");
        var topics = new KafkaTopics(
            Options.Create(await ChangingAsync("balance-backend", "former")),
            TimeProvider.System, NullLogger<KafkaTopics>.Instance);
        using var follower = new EventFollower(
            Options.Create(await ChangingAsync("balance-backend", "new", former: "former")), new Unread(), topics,
            new Supervisor(
                new ApplicationLifetime(NullLogger<ApplicationLifetime>.Instance), NullLogger<Supervisor>.Instance),
            TimeProvider.System, NullLogger<EventFollower>.Instance);

        await follower.StartAsync(TestContext.Current.CancellationToken);
        await follower.Following.WaitAsync(Patience, TestContext.Current.CancellationToken);
        await follower.StopAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task The_database_requires_TLS_and_is_rejected_by_clients_that_trust_another_authority()
    {
        var plain = new NpgsqlConnectionStringBuilder(_stack.ConnectionString) { SslMode = SslMode.Disable };
        using var authority = new CertificateAuthority("Another CA", TimeProvider.System);
        var file = Path.GetTempFileName();
        await File.WriteAllTextAsync(file, authority.Pem, TestContext.Current.CancellationToken);
        var foreign = new NpgsqlConnectionStringBuilder(_stack.ConnectionString) { RootCertificate = file };

        foreach (var connectionString in (string[])[plain.ConnectionString, foreign.ConnectionString])
        {
            await using var connection = new NpgsqlConnection(connectionString);
            await Assert.ThrowsAnyAsync<NpgsqlException>(
                () => connection.OpenAsync(TestContext.Current.CancellationToken));
        }
        File.Delete(file);
    }

    [Fact]
    public async Task Logs_and_command_lines_contain_no_password_key_or_token()
    {
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var good = _stack.Token("payments:write", "*/*");
        var bad = _stack.Token("payments:write", "*/*")[..^3] + "AAA";
        await client.MakePaymentAsync(StackFixture.Payment(), new Metadata { { "authorization", "Bearer " + good } });
        await Assert.ThrowsAsync<RpcException>(
            () => client.MakePaymentAsync(
                StackFixture.Payment(), new Metadata { { "authorization", "Bearer " + bad } }).ResponseAsync);
        string[] secrets =
        [
            .. _stack.Credentials.Brokers.Passwords.Values,
            new NpgsqlConnectionStringBuilder(_stack.ConnectionString).Password!, good, bad,
        ];

        var output = new List<string>();
        foreach (var log in Directory.EnumerateFiles(_stack.Stack.Folder.Logs))
        {
            output.Add(await File.ReadAllTextAsync(log, TestContext.Current.CancellationToken));
        }
        foreach (var process in _stack.Stack.Processes)
        {
            output.Add(
                await File.ReadAllTextAsync($"/proc/{process.Id}/cmdline", TestContext.Current.CancellationToken));
        }

        Assert.True(output.Count > 8);
        Assert.All(secrets, secret => Assert.True(secret.Length > 20));
        Assert.DoesNotContain(output, text => text.Contains("PRIVATE KEY", StringComparison.Ordinal)
            || Array.Exists(secrets, secret => text.Contains(secret, StringComparison.Ordinal)));
    }

    private static async Task<StatementEntry> EntryAsync(
        BillingService.BillingServiceClient client, ListStatementRequest request, Metadata headers)
    {
        using var call = client.StreamStatement(request, headers);
        Assert.True(await call.ResponseStream.MoveNext(TestContext.Current.CancellationToken));
        return call.ResponseStream.Current.Entries[0];
    }

    private static async Task<ErrorCode> CodeAsync(Func<Task> act)
    {
        try
        {
            await act();
            return ErrorCode.NoError;
        }
        catch (KafkaException e)
        {
            return e.Error.Code;
        }
    }

    // The name of a reply topic contains its proxy's id, so only its beginning is known.
    private string Existing(string beginning)
    {
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        return admin.GetMetadata(Patience).Topics.Select(t => t.Topic)
            .First(t => t.StartsWith(beginning, StringComparison.Ordinal));
    }

    private async Task<long> EncryptedSessionsAsync(int minimum)
    {
        await using var database = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var sessions = database.CreateCommand(
            "select least($1, count(*) filter (where ssl)) from pg_stat_ssl join pg_stat_activity using (pid) where "
            + "client_addr is not null and pid <> pg_backend_pid()");
        sessions.Parameters.AddWithValue((long)minimum);
        return (long)(await sessions.ExecuteScalarAsync())!;
    }

    // The account of a user for SCRAM, which an administrator may change while the brokers run.
    private async Task SetPasswordAsync(string user, string password)
    {
        using var administrator = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        await administrator.AlterUserScramCredentialsAsync([new UserScramCredentialUpsertion
        {
            User = user,
            Password = System.Text.Encoding.UTF8.GetBytes(password),
            ScramCredentialInfo = new ScramCredentialInfo { Mechanism = ScramMechanism.ScramSha512, Iterations = 4096 },
        }]);
    }

    private async Task<KafkaOptions> ChangingAsync(string user, string password, string former = "")
    {
        var options = new KafkaOptions
        {
            BootstrapServers = _stack.Stack.Kafka!.SecuredServers,
            FormerPassword = former,
            StartTimeout = Patience,
        };
        foreach (var (name, value) in await PropertiesAsync(user))
        {
            options.Properties[name] = value;
        }
        options.Properties["sasl.mechanism"] = "SCRAM-SHA-512";
        options.Properties["sasl.password"] = password;
        return options;
    }

    private async Task<Dictionary<string, string>> PropertiesAsync(string user)
    {
        var properties = new Dictionary<string, string>
        {
            ["bootstrap.servers"] = _stack.Stack.Kafka!.SecuredServers,
            ["socket.connection.setup.timeout.ms"] = ((int)Patience.TotalMilliseconds)
                .ToString(System.Globalization.CultureInfo.InvariantCulture),
        };
        foreach (var file in Directory.EnumerateFiles(_stack.Credentials.SecretsOf(user)))
        {
            properties[Path.GetFileName(file).Split("__")[^1]] = await File.ReadAllTextAsync(file);
        }
        return properties;
    }

    private sealed class Unread : IReadModel
    {
        public void Reset()
        {
        }

        public void Apply(IReadOnlyList<Wire.V1.Event> events)
        {
        }
    }
}
