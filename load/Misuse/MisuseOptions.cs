using Billing.Misuse.Attacks;

namespace Billing.Misuse;

/// <summary>The options of a run of hostile callers.</summary>
internal sealed record MisuseOptions
{
    /// <summary>Chooses the order of the shapes and what each leaves open.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>After this long no further shape is begun.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromMinutes(60);

    /// <summary>The shapes, in this order. The first ones are tried whatever the duration.</summary>
    public required IReadOnlyList<Shape> Shapes { get; init; }

    /// <summary>Number of shapes that are tried whatever the duration.</summary>
    public required int AlwaysFirst { get; init; }

    /// <summary>Whether others' waits are judged, too: they depend on the machine.</summary>
    public bool JudgesWaits { get; init; } = true;

    /// <summary>How long an attack lasts.</summary>
    public TimeSpan Attack { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>How long an attack lasts that once ended a proxy: long enough for that.</summary>
    public TimeSpan Killer { get; init; } = TimeSpan.FromSeconds(45);

    /// <summary>How long others are watched beside a program that only computes, before each attack.</summary>
    public TimeSpan Quiet { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>How long others pay at each proxy before anything is watched.</summary>
    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Number of events of the account whose statement is read.</summary>
    public int LongAccountEvents { get; init; } = 1_500;

    /// <summary>The options of a run over all shapes in the order of a seed, or over those that a name means.</summary>
    /// <param name="name">The name of a shape or of an attack; null for all shapes.</param>
    public static MisuseOptions Of(int seed, TimeSpan duration, string? name)
    {
        var shapes = name is null ? Attacks.Shapes.InOrderOf(seed) : Attacks.Shapes.Named(name);
        return new MisuseOptions
        {
            Seed = seed,
            Duration = duration,
            Shapes = shapes,
            AlwaysFirst = name is null ? Attacks.Shapes.Killers.Count : 1,
        };
    }
}
