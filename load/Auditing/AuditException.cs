namespace Billing.Auditing;

/// <summary>The given database cannot be audited. The message is text for the user.</summary>
public sealed class AuditException : Exception
{
    /// <inheritdoc/>
    public AuditException()
    {
    }

    /// <inheritdoc/>
    public AuditException(string message)
        : base(message)
    {
    }

    /// <inheritdoc/>
    public AuditException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
