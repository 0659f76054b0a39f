using Billing.Misuse.Connections;

namespace Billing.Misuse.Attacks;

/// <summary>The part of a connection's life that an attack is about.</summary>
internal enum Phase
{
    /// <summary>TCP, and TLS where there is one.</summary>
    Connecting,

    /// <summary>The preface of HTTP/2.</summary>
    Preface,

    /// <summary>Connections without a request.</summary>
    Idle,

    /// <summary>The headers of requests.</summary>
    Headers,

    /// <summary>The bodies of requests.</summary>
    Bodies,

    /// <summary>Many streams.</summary>
    Streams,

    /// <summary>The frames that control a connection.</summary>
    Control,

    /// <summary>Answers that are not read.</summary>
    Unread,

    /// <summary>Much of what is allowed.</summary>
    Bulk,

    /// <summary>Single calls.</summary>
    Calls,
}

/// <summary>A way to misuse a proxy.</summary>
/// <param name="Name">Its name, in the names of shapes.</param>
/// <param name="Phase">The part of a connection's life that it is about.</param>
/// <param name="What">What its callers do, for readers.</param>
internal sealed record Attack(string Name, Phase Phase, string What)
{
    /// <summary>What it does over HTTP/2; null if it is not possible there.</summary>
    public Step? Http2 { get; init; }

    /// <summary>What it does over HTTP/1.1; null if it is not possible there.</summary>
    public Step? Http1 { get; init; }

    /// <summary>Whether it needs gRPC: REST has no such request.</summary>
    public bool IsGrpcOnly { get; init; }

    /// <summary>Whether it is made where TLS is expected, without it.</summary>
    public bool IsBare { get; init; }

    /// <summary>Whether it is about TLS, and so not possible without it.</summary>
    public bool NeedsTls { get; init; }

    /// <summary>Whether it sends headers, and a token in them.</summary>
    public bool ShowsToken { get; init; } = true;

    /// <summary>Whether its connections keep little of what they do not read: it stays with the proxy.</summary>
    public bool ReceivesLittle { get; init; }

    /// <summary>How many connections it may have, with how many streams or requests each.</summary>
    public IReadOnlyList<Layout> Layouts { get; init; } = [new(1, 1000), new(20, 1000), new(500, 10)];

    /// <summary>The same over HTTP/1.1, where a request that does not end takes a whole connection.</summary>
    public IReadOnlyList<Layout>? LayoutsOfHttp1 { get; init; }

    /// <summary>The fronts on which it is possible.</summary>
    public IEnumerable<Front> Fronts => Enum.GetValues<Front>().Where(front => StepsAt(front) is not null);

    /// <summary>What it does at a front; null if it is not possible there.</summary>
    public Step? StepsAt(Front front) =>
        (NeedsTls && !AttackOrder.HasTls(front)) || (IsGrpcOnly && !AttackOrder.IsGrpc(front)) ? null
        : AttackOrder.IsHttp2(front) ? Http2 : Http1;

    /// <summary>How many connections it may have at a front.</summary>
    public IReadOnlyList<Layout> LayoutsAt(Front front) =>
        AttackOrder.IsHttp2(front) ? Layouts : LayoutsOfHttp1 ?? Layouts;

    /// <summary>The credentials that make a difference to it.</summary>
    public IEnumerable<Credential> Credentials => ShowsToken ? Enum.GetValues<Credential>() : [Credential.None];
}
