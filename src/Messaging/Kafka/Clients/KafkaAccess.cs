using Billing.Hosting;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Reads access rules from text and creates them as ACLs on the brokers. Each line is
/// <c>PRINCIPAL topic:NAME|group:NAME OPERATION...</c>; a name that ends with <c>*</c> is a prefix, and <c>#</c>
/// starts a comment. A line with <c>{proxy}</c> stands for one of each proxy, with its name.</summary>
public static class KafkaAccess
{
    private const string EachProxy = "{proxy}";

    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Parses access rules.</summary>
    /// <param name="lines">The lines.</param>
    /// <param name="proxies">The names of the proxies; each is also a user of the brokers.</param>
    /// <exception cref="FormatException">A line is not of that form, or stands for each proxy while none is named; the
    /// message contains its number and the reason.</exception>
    public static IReadOnlyList<AclBinding> Parse(IEnumerable<string> lines, IReadOnlyList<string> proxies)
    {
        var bindings = new List<AclBinding>();
        foreach (var (number, line) in lines.Index())
        {
            var words = line.Split('#', 2)[0].Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
            if (words.Length == 0)
            {
                continue;
            }
            if (words.Length < 3)
            {
                throw new FormatException(
                    $"Line {number + 1}: '{line}' must be PRINCIPAL topic:NAME|group:NAME OPERATION...");
            }
            bindings.AddRange(ForEach(line, words, proxies, number + 1).SelectMany(one => Bindings(one, number + 1)));
        }
        return bindings;
    }

    private static IEnumerable<string[]> ForEach(
        string text, string[] words, IReadOnlyList<string> proxies, int line)
    {
        if (!Array.Exists(words, word => word.Contains(EachProxy, StringComparison.Ordinal)))
        {
            return [words];
        }
        return proxies.Count > 0
            ? proxies.Select(proxy =>
                Array.ConvertAll(words, word => word.Replace(EachProxy, proxy, StringComparison.Ordinal)))
            : throw new FormatException(
                $"Line {line}: '{text}' stands for each proxy ({EachProxy}), but no proxy is named.");
    }

    private static IEnumerable<AclBinding> Bindings(string[] words, int line)
    {
        var resource = Resource(words[1], line);
        return words[2..].Select(word => new AclBinding { Pattern = resource, Entry = Allow(words[0], word, line) });
    }

    /// <summary>Creates the ACLs. Existing ACLs are kept.</summary>
    /// <exception cref="StartupException">The brokers are unreachable or refuse the request.</exception>
    public static async Task AllowAsync(KafkaOptions options, IReadOnlyList<AclBinding> bindings)
    {
        using var admin = KafkaClients.Admin(options.Admin("billing-topics"));
        try
        {
            await KafkaClients.InsistAsync(
                () => admin.CreateAclsAsync(bindings, new CreateAclsOptions { RequestTimeout = RequestTimeout }),
                RequestTimeout);
        }
        catch (CreateAclsException e)
        {
            var (binding, report) = bindings.Zip(e.Results).First(pair => pair.Second.Error.IsError);
            throw new StartupException(
                $"The brokers refuse to allow {binding.Entry.Principal} {binding.Entry.Operation} on "
                    + $"{binding.Pattern.Type} {binding.Pattern.Name}: {report.Error.Reason}", e);
        }
        catch (KafkaException e)
        {
            throw new StartupException("The brokers did not accept the access list: " + e.Message, e);
        }
    }

    private static ResourcePattern Resource(string text, int line)
    {
        var (kind, name) = text.Split(':', 2) is [var first, { Length: > 0 } second] ? (first, second) : (text, "");
        var type = kind switch
        {
            "topic" when name.Length > 0 => ResourceType.Topic,
            "group" when name.Length > 0 => ResourceType.Group,
            _ => throw new FormatException($"Line {line}: '{text}' must be topic:NAME or group:NAME."),
        };
        var isPrefix = name.EndsWith('*');
        return new ResourcePattern
        {
            Type = type,
            Name = isPrefix ? name[..^1] : name,
            ResourcePatternType = isPrefix ? ResourcePatternType.Prefixed : ResourcePatternType.Literal,
        };
    }

    private static AccessControlEntry Allow(string principal, string operation, int line) => new()
    {
        Principal = "User:" + principal,
        Host = "*",
        PermissionType = AclPermissionType.Allow,
        Operation = Enum.TryParse<AclOperation>(operation, out var known)
            && known is not (AclOperation.Unknown or AclOperation.Any) && !char.IsDigit(operation[0])
            ? known
            : throw new FormatException(
                $"Line {line}: '{operation}' is not an operation such as Read, Write, Create, Delete, Describe."),
    };
}
