using Billing.V1;

namespace Billing.Contracts;

/// <summary>What a caller keeps with a payment, refund or capture, to match it with records of its own: a reference,
/// such as the number of an order, and a few pairs. Two with the same contents are equal.</summary>
/// <param name="Reference">Up to 100 characters, no control characters; null for none.</param>
/// <param name="Metadata">Up to eight pairs: names of 1 to 40 characters out of A-Z a-z 0-9 .
/// _ - and values of up to 100 characters, no control characters; null for none.</param>
public sealed record Notes(string? Reference = null, IReadOnlyDictionary<string, string>? Metadata = null)
{
    /// <summary>The notes of a message; null if there are none.</summary>
    public static Notes? Of(PaymentNotes? message) =>
        message is null or { Reference.Length: 0, Metadata.Count: 0 }
            ? null
            : new Notes(
                message.Reference.Length == 0 ? null : message.Reference,
                message.Metadata.Count == 0
                    ? null
                    : new Dictionary<string, string>(message.Metadata, StringComparer.Ordinal));

    /// <summary>Their message.</summary>
    public PaymentNotes ToMessage()
    {
        var message = new PaymentNotes { Reference = Reference ?? "" };
        foreach (var (name, value) in Metadata ?? new Dictionary<string, string>())
        {
            message.Metadata.Add(name, value);
        }
        return message;
    }

    /// <inheritdoc/>
    public bool Equals(Notes? other) =>
        other is not null && (Reference ?? "") == (other.Reference ?? "")
        && (Metadata?.Count ?? 0) == (other.Metadata?.Count ?? 0)
        && (Metadata is null
            || Metadata.All(pair => other.Metadata!.TryGetValue(pair.Key, out var value) && value == pair.Value));

    /// <summary>Says how much there is, and not what: it is not for logs.</summary>
    public override string ToString() =>
        $"reference: {(Reference is null ? "none" : "redacted")}, metadata: {Metadata?.Count ?? 0} pairs";

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Reference ?? "", Metadata?.Count ?? 0);
}
