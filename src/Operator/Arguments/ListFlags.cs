using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;

namespace Billing.Operator.Arguments;

/// <summary>Options with several values separated by commas, whose errors name the option.</summary>
internal static class ListFlags
{
    /// <summary>Creates an option for some names of a list; all by default.</summary>
    public static Option<string[]> Names(string name, string description, params string[] known)
    {
        var all = string.Join(", ", known);
        var option = List<string>(
            name, $"{description}: {all}, separated by commas", "NAME[,NAME]", part => [part],
            part => known.Contains(part) ? null : $"{name}: '{part}' is not one of {all}.");
        option.DefaultValueFactory = _ => known;
        return option;
    }

    /// <summary>Creates an option for numbers, and ranges of them such as <c>0-63</c>.</summary>
    public static Option<int[]> Numbers(string name, string description, int[] fallback, int min, int max)
    {
        var option = List(
            name, description + ", separated by commas", "N[,N-N]",
            part => Range(part) is { } range ? Enumerable.Range(range.First, range.Last - range.First + 1) : [],
            part => Range(part) is not { } range
                ? $"{name}: '{part}' is neither a number from {min} to {max} nor a range of them."
                : null);
        option.DefaultValueFactory = _ => fallback;
        return option;

        (int First, int Last)? Range(string part)
        {
            var ends = part.Split('-', 2);
            return int.TryParse(ends[0], NumberStyles.None, CultureInfo.InvariantCulture, out var first)
                && int.TryParse(ends[^1], NumberStyles.None, CultureInfo.InvariantCulture, out var last)
                && min <= first && first <= last && last <= max ? (first, last) : null;
        }
    }

    public static Option<string[]> Addresses(string name, string description) => List<string>(
        name, description + ", separated by commas", "URL[,URL]", part => [part],
        part => Uri.TryCreate(part, UriKind.Absolute, out var address) && address.Scheme is "http" or "https"
            ? null
            : $"{name}: '{part}' is not an address of the form http://host:port.");

    /// <summary>Creates an option for machines as <c>ssh</c> takes them; none may look like
    /// one of its options.</summary>
    public static Option<string[]> Hosts(string name, string description) => List<string>(
        name, description + ", separated by commas", "USER@HOST[,USER@HOST]", part => [part],
        part => part.StartsWith('-') || part.Any(char.IsWhiteSpace)
            ? $"{name}: '{part}' is not a machine of the form user@host."
            : null);

    private static Option<T[]> List<T>(
        string name, string description, string helpName, Func<string, IEnumerable<T>> parse,
        Func<string, string?> problem)
    {
        var option = new Option<T[]>(name)
        {
            Description = description,
            HelpName = helpName,
            CustomParser = result => [.. result.Tokens.SelectMany(Parts).SelectMany(parse)],
        };
        option.Validators.Add(result =>
        {
            foreach (var error in result.Tokens.SelectMany(Parts).Select(problem).OfType<string>())
            {
                result.AddError(error);
            }
        });
        return option;
    }

    private static string[] Parts(Token token) =>
        token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
}
