namespace Billing.Auditing;

/// <summary>What was named cannot be audited; the message is for whoever named it.</summary>
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
