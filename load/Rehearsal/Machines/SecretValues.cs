using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>The present value of each secret at one time, by its name.</summary>
/// <param name="files">The contents of their files, by their names.</param>
internal sealed class SecretValues(IReadOnlyDictionary<string, string> files)
{
    /// <summary>Those that stay when all are replaced, each with its reason.</summary>
    public static readonly IReadOnlyDictionary<string, string> Kept = new Dictionary<string, string>
    {
        ["postgres/backup"] = "what it has encrypted cannot be read with another one",
    };

    /// <summary>The names, as they are below the folder.</summary>
    public IEnumerable<string> Names => files.Keys;

    /// <summary>The contents of a secret's file; empty if there is no such secret.</summary>
    public string this[string name] => files.GetValueOrDefault(name, "");

    /// <summary>The present value of a password.</summary>
    public string PasswordOf(string name) => this[name].Split(' ')[0];

    /// <summary>Reads every secret that the platform has.</summary>
    /// <param name="listed">The output of <c>secrets.sh --list</c> for the folder.</param>
    /// <param name="folder">The folder, with a file for each.</param>
    /// <exception cref="StackException">One of them does not exist.</exception>
    public static SecretValues Read(string listed, string folder)
    {
        var names = listed.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Concat(Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
            .Select(path => Path.GetRelativePath(folder, path)).Distinct().Order(StringComparer.Ordinal).ToList();
        return names.Find(name => !File.Exists(Path.Combine(folder, name))) is { } missing
            ? throw new StackException($"The secret {missing} does not exist.")
            : new SecretValues(names.ToDictionary(name => name, name => File.ReadAllText(Path.Combine(folder, name))));
    }

    /// <summary>Checks that a later reading has another value for each.</summary>
    /// <exception cref="StackException">Some secrets have the value of before; the message has
    /// their names.</exception>
    public void AllReplacedIn(SecretValues later, IReadOnlyDictionary<string, string> kept)
    {
        var same = Names.Where(name => !kept.ContainsKey(name) && IsPartlyTheSame(name, later)).ToList();
        if (same.Count > 0)
        {
            throw new StackException("These secrets have the value of before: " + string.Join(", ", same));
        }
    }

    // The first of each kind is the present one, of keys and certificates as of passwords.
    private bool IsPartlyTheSame(string name, SecretValues later)
    {
        var (before, after) = (Parts(this[name]), Parts(later[name]));
        return before.Any(part => after.GetValueOrDefault(part.Key) == part.Value);
    }

    private static Dictionary<string, string> Parts(string value)
    {
        var parts = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var (label, base64) in PemBlocks.Of(value))
        {
            parts.TryAdd(label, base64);
        }
        if (parts.Count == 0)
        {
            parts.Add("", value.Split((char[]?)null, 2, StringSplitOptions.RemoveEmptyEntries).FirstOrDefault(""));
        }
        return parts;
    }
}
