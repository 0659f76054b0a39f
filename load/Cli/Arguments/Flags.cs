using System.CommandLine;
using System.Globalization;
using Billing.LocalStack;
using Billing.Messaging.Kafka.Clients;
using Npgsql;

namespace Billing.Cli.Arguments;

/// <summary>Options with a limited range, whose errors name the option.</summary>
internal static class Flags
{
    /// <summary>Creates an option with a few allowed values, of which the first is the default.</summary>
    public static Option<string> Choice(string name, string description, params string[] values)
    {
        var option = new Option<string>(name)
        {
            Description = description,
            DefaultValueFactory = _ => values[0],
            HelpName = string.Join('|', values),
        };
        option.CompletionSources.Add(values);
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && !values.Contains(result.Tokens[0].Value))
            {
                result.AddError($"{name} must be {string.Join(", ", values[..^1])} or {values[^1]}; it is {result.Tokens[0].Value}.");
            }
        });
        return option;
    }

    public static Option<int> Number(string name, string description, int fallback, int min, int max) => new(name)
    {
        Description = description,
        DefaultValueFactory = _ => fallback,
        HelpName = "N",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (!int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var value) || value < min || value > max)
            {
                result.AddError(string.Create(CultureInfo.InvariantCulture, $"{name} must be between {min} and {max}; it is {text}."));
            }
            return value;
        },
    };

    /// <summary>Creates the option for the number of brokers of a stack. Two are not allowed: if one failed, there would be no
    /// majority.</summary>
    public static Option<int> Brokers(int fallback)
    {
        var option = new Option<int>("--brokers") { Description = "Kafka brokers to start: 1 or 3", DefaultValueFactory = _ => fallback, HelpName = "N" };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.Tokens[0].Value is not ("1" or "3"))
            {
                result.AddError($"--brokers must be 1 or 3; it is {result.Tokens[0].Value}.");
            }
        });
        return option;
    }
}

/// <summary>The options for the parts of a stack.</summary>
internal sealed class StackFlags
{
    private readonly Option<int> _proxies = Flags.Number("--proxies", "Proxies", 3, 1, 100);
    private readonly Option<int> _payments = Flags.Number("--payment-backends", "Payment backends", 3, 1, 100);
    private readonly Option<int> _balances = Flags.Number("--balance-backends", "Balance backends", 3, 1, 100);

    private readonly Option<int> _brokers;

    private readonly Option<int> _partitions = Flags.Number(
        "--partitions", "Partitions of each topic; 0 for enough to assign one to every backend", 0, 0, 1000);

    private readonly Option<string> _jitter = new("--jitter")
    {
        Description = "Simulated delay of the card network: on or off",
        HelpName = "on|off",
    };

    private readonly Option<string> _kafka = new("--kafka")
    {
        Description = "auto, embedded, or the addresses of running brokers",
        DefaultValueFactory = _ => "auto",
        HelpName = "auto|embedded|HOST:PORT",
    };

    private readonly Option<string> _transport = Flags.Choice(
        "--transport", "How proxies reach backends: through Kafka, or by direct calls", "kafka", "direct");

    private readonly Option<string> _protocol = Flags.Choice(
        "--protocol", "Protocol of --transport direct, where --payment-backends serve payments and balances", "grpc", "rpcx", "rest");

    private readonly Option<string> _postgres = new("--postgres")
    {
        Description = "auto, or the connection string of a running PostgreSQL",
        DefaultValueFactory = _ => "auto",
        HelpName = "auto|CONNECTION",
    };

    private readonly bool _kafkaOnly;

    public StackFlags(int brokers = 1, string jitter = "off", bool kafkaOnly = false)
    {
        _kafkaOnly = kafkaOnly;
        _brokers = Flags.Brokers(brokers);
        _jitter.DefaultValueFactory = _ => jitter;
        _jitter.CompletionSources.Add("on", "off");
        _jitter.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.Tokens[0].Value is not ("on" or "off"))
            {
                result.AddError($"--jitter must be on or off; it is {result.Tokens[0].Value}.");
            }
        });
        _kafka.Validators.Add(result =>
        {
            var value = result.Tokens.Count > 0 ? result.Tokens[0].Value : "auto";
            if (value is not ("auto" or "embedded") && !value.Split(',').All(KafkaOptions.IsAddress))
            {
                result.AddError($"--kafka must be auto, embedded or HOST:PORT[,HOST:PORT]; it is '{value}'.");
            }
        });
        _postgres.Validators.Add(result =>
        {
            var value = result.Tokens.Count > 0 ? result.Tokens[0].Value : "auto";
            if (value != "auto" && !IsConnectionString(value))
            {
                result.AddError($"--postgres must be auto or a connection string such as 'Host=localhost;Database=billing;Username=billing'; it is '{value}'.");
            }
        });
    }

    /// <summary>All these options.</summary>
    public IReadOnlyList<Option> Options => _kafkaOnly
        ? [_proxies, _payments, _balances, _brokers, _partitions, _jitter, _kafka, _postgres]
        : [_proxies, _payments, _balances, _brokers, _partitions, _jitter, _kafka, _postgres, _transport, _protocol];

    public void AddTo(Command command)
    {
        foreach (var option in Options)
        {
            command.Add(option);
        }
        if (_kafkaOnly)
        {
            return;
        }
        command.Validators.Add(result =>
        {
            var isDirect = result.GetValue(_transport) == "direct";
            foreach (var ofKafka in new Option[] { _kafka, _partitions }.Where(o => isDirect && result.GetResult(o) is { Implicit: false }))
            {
                result.AddError($"{ofKafka.Name} cannot be used with --transport direct.");
            }
            if (!isDirect && result.GetResult(_protocol) is { Implicit: false })
            {
                result.AddError("--protocol requires --transport direct.");
            }
        });
    }

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
    };

    private static bool IsConnectionString(string value)
    {
        try
        {
            return new NpgsqlConnectionStringBuilder(value).Host is { Length: > 0 };
        }
        catch (ArgumentException)
        {
            return false;
        }
    }
}
