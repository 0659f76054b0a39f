using Billing.V1;

namespace Billing.Client;

/// <summary>What a caller keeps with a request, to match it with records of its own: a reference, such as the number of
/// an order, and a few pairs. Two with the same contents are equal.</summary>
/// <param name="Reference">Up to 100 characters, no control characters; null for none.</param>
/// <param name="Metadata">Up to eight pairs: names of 1 to 40 characters out of A-Z a-z 0-9 .
/// _ - and values of up to 100 characters, no control characters; null for none.</param>
public sealed record Notes(string? Reference = null, IReadOnlyDictionary<string, string>? Metadata = null)
{
    private Contracts.Notes Contents => new(Reference, Metadata);

    /// <inheritdoc/>
    public bool Equals(Notes? other) => other is not null && Contents.Equals(other.Contents);

    /// <inheritdoc/>
    public override int GetHashCode() => Contents.GetHashCode();

    /// <summary>Says how much there is, and not what: it is not for logs.</summary>
    public override string ToString() => Contents.ToString();

    internal static Notes? Of(PaymentNotes? message) =>
        Contracts.Notes.Of(message) is { } notes ? new Notes(notes.Reference, notes.Metadata) : null;

    internal PaymentNotes ToMessage() => Contents.ToMessage();
}
