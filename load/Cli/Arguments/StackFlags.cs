using System.CommandLine;
using System.CommandLine.Parsing;
using Billing.LocalStack;
using Billing.Operator.Arguments;

namespace Billing.Cli.Arguments;

/// <summary>The options for the parts of a stack.</summary>
internal sealed class StackFlags
{
    private readonly Option<int> _proxies = Flags.Number("--proxies", "Proxies", 3, 1, 100);
    private readonly Option<int> _payments = Flags.Number("--payment-backends", "Payment backends", 3, 1, 100);
    private readonly Option<int> _balances = Flags.Number("--balance-backends", "Balance backends", 3, 1, 100);
    private readonly Option<int> _brokers;

    private readonly Option<int> _partitions = Flags.Number(
        "--partitions", "Partitions of each topic; 0 for enough to assign one to every backend", 0, 0, 1000);

    private readonly Option<string> _jitter = Flags.Choice(
        "--jitter", "Simulated delay of the card network: on or off", "on", "off");

    private readonly Option<string> _kafka = new Option<string>("--kafka")
    {
        Description = "auto, embedded, or the addresses of running brokers",
        DefaultValueFactory = _ => "auto",
        HelpName = "auto|embedded|HOST:PORT",
    }.Refuse(text => text is "auto" or "embedded" || Flags.AreBrokers(text)
        ? null
        : $"--kafka must be auto, embedded or HOST:PORT[,HOST:PORT]; it is '{text}'.");

    private readonly Option<string> _transport = Flags.Choice(
        "--transport", "How proxies reach backends: through Kafka, or by direct calls", "kafka", "direct");

    private readonly Option<string> _protocol = Flags.Choice(
        "--protocol", "Protocol of --transport direct, where --payment-backends serve payments and balances",
        "grpc", "rpcx");

    private readonly Option<string> _postgres = new Option<string>("--postgres")
    {
        Description = "auto, or the connection string of a running PostgreSQL",
        DefaultValueFactory = _ => "auto",
        HelpName = "auto|CONNECTION",
    }.Refuse(text => text == "auto" || Flags.IsConnectionString(text)
        ? null
        : "--postgres must be auto or a connection string such as 'Host=localhost;Database=billing;Username=billing'; "
            + $"it is '{text}'.");

    private readonly Option<int> _replicas = Flags.Number(
        "--postgres-replicas",
        "PostgreSQL servers: from 2 on, a commit waits for two disks, and a standby takes over from a lost primary",
        1, 1, 3);

    private readonly Option<int> _databases = DatabaseCount();

    private readonly bool _kafkaOnly;

    public StackFlags(int brokers = 1, string jitter = "off", bool kafkaOnly = false)
    {
        _kafkaOnly = kafkaOnly;
        _brokers = BrokerCount(brokers);
        _jitter.DefaultValueFactory = _ => jitter;
    }

    public IReadOnlyList<Option> Options =>
    [
        _proxies, _payments, _balances, _brokers, _partitions, _jitter, _kafka, _postgres, _replicas, _databases,
        .. _kafkaOnly ? [] : (Option[])[_transport, _protocol], ProcessorsFlag.Option,
    ];

    public void AddTo(Command command)
    {
        foreach (var option in Options)
        {
            command.Add(option);
        }
        command.Validators.Add(result =>
        {
            if (HasReplicas(result)
                && result.GetResult(_postgres) is { Implicit: false, Tokens: [{ Value: not "auto" }] })
            {
                result.AddError(
                    "--postgres-replicas starts servers and cannot be combined with --postgres: "
                    + "name the running servers there, e.g. 'Host=one,two'.");
            }
            if (HasDatabases(result)
                && (HasReplicas(result)
                    || result.GetResult(_postgres) is { Implicit: false, Tokens: [{ Value: not "auto" }] }))
            {
                result.AddError(
                    "--databases starts servers and cannot be combined with --postgres or --postgres-replicas.");
            }
        });
        if (_kafkaOnly)
        {
            return;
        }
        command.Validators.Add(result =>
        {
            var isDirect = result.GetValue(_transport) == "direct";
            foreach (var ofKafka in new Option[] { _kafka, _partitions }.Where(
                o => isDirect && result.GetResult(o) is { Implicit: false }))
            {
                result.AddError($"{ofKafka.Name} cannot be used with --transport direct.");
            }
            if (!isDirect && result.GetResult(_protocol) is { Implicit: false })
            {
                result.AddError("--protocol requires --transport direct.");
            }
        });
    }

    /// <summary>Whether several PostgreSQL servers are wanted; also true for a number that is refused.</summary>
    public bool HasReplicas(CommandResult result) =>
        result.GetResult(_replicas) is { Implicit: false, Tokens: [{ Value: not "1" }] };

    /// <summary>Whether several databases are wanted.</summary>
    public bool HasDatabases(CommandResult result) => result.GetValue(_databases) > 1;

    public StackOptions Read(ParseResult parsed) => new()
    {
        Proxies = parsed.GetValue(_proxies),
        PaymentBackends = parsed.GetValue(_payments),
        BalanceBackends = parsed.GetValue(_balances),
        Transport = _kafkaOnly ? "kafka" : parsed.GetValue(_transport)!,
        Protocol = _kafkaOnly ? "grpc" : parsed.GetValue(_protocol)!,
        Brokers = parsed.GetValue(_brokers),
        Partitions = parsed.GetValue(_partitions),
        Jitter = parsed.GetValue(_jitter) == "on",
        Kafka = parsed.GetValue(_kafka)!,
        Postgres = parsed.GetValue(_postgres)!,
        PostgresReplicas = parsed.GetValue(_replicas),
        Databases = parsed.GetValue(_databases),
    };

    /// <summary>Creates the option for the number of databases that a command starts.</summary>
    public static Option<int> DatabaseCount() => Flags.Number(
        "--databases",
        "Databases of the event store, each with a server of its own; the accounts are spread over them", 1, 1, 16);

    /// <summary>Creates the option for the number of brokers of a stack. Two are not allowed:
    /// if one failed, there would be no majority.</summary>
    private static Option<int> BrokerCount(int fallback) =>
        new Option<int>("--brokers")
        {
            Description = "Kafka brokers to start: 1 or 3",
            DefaultValueFactory = _ => fallback,
            HelpName = "N",
        }
            .Refuse(text => text is "1" or "3" ? null : $"--brokers must be 1 or 3; it is {text}.");
}
