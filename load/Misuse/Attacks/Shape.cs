using Billing.Misuse.Connections;

namespace Billing.Misuse.Attacks;

/// <summary>Hostile callers of one kind: an attack, where it is made, with what, and on how many connections.</summary>
/// <param name="Attack">What they do.</param>
/// <param name="Front">Where.</param>
/// <param name="Credential">With which credential.</param>
/// <param name="Layout">On how many connections, with how many streams each.</param>
internal sealed record Shape(Attack Attack, Front Front, Credential Credential, Layout Layout)
{
    /// <summary>Its name, such as <c>body-unfinished/grpc-h2c/valid/20x1000</c>.</summary>
    public string Name => $"{Attack.Name}/{NameOf(Front)}/{NameOf(Credential)}/{Layout}";

    /// <summary>The name of a front.</summary>
    public static string NameOf(Front front) => front switch
    {
        Front.GrpcH2c => "grpc-h2c",
        Front.GrpcTls => "grpc-tls",
        Front.RestH1 => "rest-h1",
        Front.RestTlsH1 => "rest-tls-h1",
        Front.RestTlsH2 => "rest-tls-h2",
        _ => throw new ArgumentOutOfRangeException(nameof(front), front, "Has no name"),
    };

    /// <summary>The name of a credential.</summary>
    public static string NameOf(Credential credential) => credential switch
    {
        Credential.None => "none",
        Credential.Invalid => "invalid",
        Credential.Valid => "valid",
        Credential.ValidAtOthers => "valid-at-others",
        _ => throw new ArgumentOutOfRangeException(nameof(credential), credential, "Has no name"),
    };

    /// <summary>Whether a text names it: its whole name, or the beginning of it up to a slash.</summary>
    public bool IsNamed(string text) =>
        Name == text || Name.StartsWith(text + "/", StringComparison.Ordinal);
}

/// <summary>Every shape, and the order in which a seed tries them.</summary>
internal static class Shapes
{
    /// <summary>Those that ended a proxy before it had a budget for its memory. They always come first.</summary>
    public static IReadOnlyList<string> Killers { get; } =
        ["unread-statements/grpc-h2c/valid/1x400", "body-unfinished/grpc-h2c/valid/20x1000"];

    // Connections of one address have no callers before their first request: those beyond the address's share of them
    // are closed, whoever makes them.
    private const int ConnectionsAtOthersMax = 500;

    /// <summary>Every shape: each attack at each front where it is possible, with each credential that makes a
    /// difference, in each of its layouts.</summary>
    public static IReadOnlyList<Shape> All { get; } =
    [
        .. from attack in Catalogue.All
           from front in attack.Fronts
           from credential in attack.Credentials
           from layout in attack.LayoutsAt(front)
           where credential != Credential.ValidAtOthers || layout.Connections <= ConnectionsAtOthersMax
           select new Shape(attack, front, credential, layout),
    ];

    /// <summary>All shapes in the order of a seed: the killers, then one of each attack, then one more of each, and so
    /// on, so that a short run tries as many attacks as it can.</summary>
    public static IReadOnlyList<Shape> InOrderOf(int seed)
    {
        var random = new Random(seed);
        var killers = Killers.Select(name => All.Single(shape => shape.Name == name)).ToList();
        var others = All.Except(killers).GroupBy(shape => shape.Attack.Name).SelectMany(shapes =>
        {
            var shuffled = shapes.ToArray();
            random.Shuffle(shuffled);
            return shuffled.Select((shape, round) => (Shape: shape, Round: round, Turn: random.Next()));
        });
        return [.. killers, .. others.OrderBy(o => o.Round).ThenBy(o => o.Turn).Select(o => o.Shape)];
    }

    /// <summary>The shapes that a text names: one, or all of an attack.</summary>
    public static IReadOnlyList<Shape> Named(string text) => [.. All.Where(shape => shape.IsNamed(text))];
}
