
namespace Billing.Measuring.Bursts;

/// <summary>The options of a run of the billing prototype's experiment.</summary>
internal sealed record RunOptions
{
    /// <summary>The stack to start, or the proxies that run already.</summary>
    public required MeasuredSystem System { get; init; }

    /// <summary>The machines that run the clients, as <c>ssh</c> takes them; none for this machine.</summary>
    public IReadOnlyList<string> ClientHosts { get; init; } = [];

    /// <summary>Number of load-generating clients.</summary>
    public int Clients { get; init; } = 3;

    /// <summary>Number of payments that each client sends at once.</summary>
    public int Requests { get; init; } = 5000;

    /// <summary>Percentage of the payments that are also authorised, captured, voided,
    /// given back and looked up.</summary>
    public int Mix { get; init; }

    /// <summary>Number of balance checks that each client sends at the same time.</summary>
    public int Balances { get; init; } = 500;

    /// <summary>Number of payments that each client sends as a warm-up.</summary>
    public int WarmUp { get; init; } = 1000;

    /// <summary>The file to write the report to as JSON, with its page next to it; null for none.</summary>
    public string? Report { get; init; }
}
