using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Numerics;
using System.Text.RegularExpressions;
using Billing.Messaging.Kafka.Clients;
using Npgsql;

namespace Billing.Operator.Arguments;

/// <summary>Options whose errors name the option.</summary>
internal static partial class Flags
{
    public static Option<string?> Text(string name, string description, string helpName) =>
        new(name) { Description = description, HelpName = helpName };

    /// <summary>Creates an option for a file, which must exist; null unless it is given.</summary>
    public static Option<string?> ExistingFile(string name, string description) =>
        Text(name, description, "FILE").Refuse(
            path => File.Exists(path) ? null : $"{name}: there is no file '{path}'.");

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
        return option.Refuse(text => values.Contains(text)
            ? null
            : $"{name} must be {string.Join(", ", values[..^1])} or {values[^1]}; it is {text}.");
    }

    /// <summary>Creates the option for the databases of the event store, each with its connection
    /// string by its name.</summary>
    public static Option<IReadOnlyDictionary<string, string>> EventStore() => new("--postgres")
    {
        Description =
            "Connection string of the event store; of several databases, each as NAME:CONNECTION with a --postgres of "
            + "its own; those of the stack in the background by default",
        HelpName = "CONNECTION",
        AllowMultipleArgumentsPerToken = false,
        Arity = ArgumentArity.OneOrMore,
        CustomParser = ReadDatabases,
    };

    private static SortedDictionary<string, string>? ReadDatabases(ArgumentResult result)
    {
        var databases = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var token in result.Tokens)
        {
            var named = DatabaseName().Match(token.Value);
            if (!named.Success && result.Tokens.Count > 1)
            {
                result.AddError(
                    "--postgres: of several databases each needs a name, as in NAME:Host=localhost; "
                    + $"'{token.Value}' has none.");
                return null;
            }
            if (!IsConnectionString(named.Success ? named.Groups[2].Value : token.Value))
            {
                result.AddError(
                    $"--postgres: '{token.Value}' is not a connection string such as Host=localhost;Database=billing.");
                return null;
            }
            if (!databases.TryAdd(
                named.Success ? named.Groups[1].Value : "billing", named.Success ? named.Groups[2].Value : token.Value))
            {
                result.AddError($"--postgres: there are two databases of the name '{named.Groups[1].Value}'.");
                return null;
            }
        }
        return databases;
    }

    /// <summary>Whether PostgreSQL can be connected to by a text.</summary>
    public static bool IsConnectionString(string value)
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

    [GeneratedRegex("^([a-z][a-z0-9_]*):(.*)$")]
    private static partial Regex DatabaseName();

    public static Option<int> Number(string name, string description, int fallback, int min, int max) => new(name)
    {
        Description = description,
        DefaultValueFactory = _ => fallback,
        HelpName = "N",
        CustomParser = result => Within(result, name, NumberStyles.Integer, min, max),
    };

    /// <summary>Creates an option for a number that may have decimals; null unless it is given.</summary>
    public static Option<double?> Decimal(string name, string description, double min, double max) => new(name)
    {
        Description = description,
        HelpName = "X",
        CustomParser = result => Within(result, name, NumberStyles.AllowDecimalPoint, min, max),
    };

    /// <summary>Adds a check to an option.</summary>
    /// <param name="option">The option.</param>
    /// <param name="error">Returns the error message for a text that is refused, and null for any other.</param>
    public static Option<T> Refuse<T>(this Option<T> option, Func<string, string?> error)
    {
        option.Validators.Add(result =>
        {
            if (result.Tokens is [var token, ..] && error(token.Value) is { } message)
            {
                result.AddError(message);
            }
        });
        return option;
    }

    /// <summary>Creates an option for a time; null unless it is given.</summary>
    public static Option<DateTimeOffset?> Time(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "TIME",
        CustomParser = result =>
        {
            if (DateTimeOffset.TryParse(
                result.Tokens[0].Value, CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out var time))
            {
                return time;
            }
            result.AddError($"{name} must be a time such as 2026-11-26T12:00Z; it is '{result.Tokens[0].Value}'.");
            return null;
        },
    };

    public static bool AreBrokers(string text) => text.Split(',').All(KafkaOptions.IsAddress);

    // A number that is none is not between any two, either.
    private static T Within<T>(ArgumentResult result, string name, NumberStyles styles, T min, T max)
        where T : struct, INumber<T>
    {
        var text = result.Tokens[0].Value;
        if (!T.TryParse(text, styles, CultureInfo.InvariantCulture, out var value) || !(value >= min && value <= max))
        {
            result.AddError(
                string.Create(CultureInfo.InvariantCulture, $"{name} must be between {min} and {max}; it is {text}."));
        }
        return value;
    }
}
