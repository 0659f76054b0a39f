using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;

namespace Billing.Cli.Arguments;

/// <summary>Options with several values separated by commas, whose errors name the option.</summary>
internal static class ListFlags
{
    /// <summary>Creates an option for some names of a list; all by default.</summary>
    public static Option<string[]> Names(string name, string description, params string[] known)
    {
        var option = List(name, $"{description}: {string.Join(", ", known)}, separated by commas", "NAME[,NAME]");
        option.DefaultValueFactory = _ => known;
        option.Validators.Add(result =>
        {
            foreach (var unknown in result.Tokens.SelectMany(Parts).Where(part => !known.Contains(part, StringComparer.Ordinal)))
            {
                result.AddError($"{name}: '{unknown}' is not one of {string.Join(", ", known)}.");
            }
        });
        return option;
    }

    /// <summary>Creates an option for whole numbers.</summary>
    public static Option<int[]> Numbers(string name, string description, int[] fallback, int min, int max)
    {
        var option = new Option<int[]>(name)
        {
            Description = description + ", separated by commas",
            HelpName = "N[,N]",
            DefaultValueFactory = _ => fallback,
            CustomParser = result => [.. result.Tokens.SelectMany(Parts).Select(part => ParseNumber(part) ?? 0)],
        };
        option.Validators.Add(result =>
        {
            foreach (var part in result.Tokens.SelectMany(Parts).Where(part => ParseNumber(part) is not { } value || value < min || value > max))
            {
                result.AddError(string.Create(CultureInfo.InvariantCulture, $"{name}: '{part}' is not a whole number between {min} and {max}."));
            }
        });
        return option;
    }

    /// <summary>Creates an option for addresses.</summary>
    public static Option<string[]> Addresses(string name, string description)
    {
        var option = List(name, description + ", separated by commas", "URL[,URL]");
        option.Validators.Add(result =>
        {
            foreach (var wrong in result.Tokens.SelectMany(Parts).Where(part => !IsAddress(part)))
            {
                result.AddError($"{name}: '{wrong}' is not an address of the form http://host:port.");
            }
        });
        return option;
    }

    private static Option<string[]> List(string name, string description, string helpName) => new(name)
    {
        Description = description,
        HelpName = helpName,
        CustomParser = result => [.. result.Tokens.SelectMany(Parts)],
    };

    private static string[] Parts(Token token) =>
        token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    private static int? ParseNumber(string text) =>
        int.TryParse(text, NumberStyles.Integer, CultureInfo.InvariantCulture, out var value) ? value : null;

    private static bool IsAddress(string value) =>
        Uri.TryCreate(value, UriKind.Absolute, out var address) && address.Scheme is "http" or "https";
}
