namespace Grpc.Core;

/// <summary>Opaque: only a gRPC implementation makes one, hence no constructor for others.</summary>
public abstract class ContextPropagationToken
{
    internal ContextPropagationToken()
    {
    }
}

public class ContextPropagationOptions
{
    public static readonly ContextPropagationOptions Default = new();

    public ContextPropagationOptions(bool propagateDeadline = true, bool propagateCancellation = true)
    {
        IsPropagateDeadline = propagateDeadline;
        IsPropagateCancellation = propagateCancellation;
    }

    public bool IsPropagateDeadline { get; }

    public bool IsPropagateCancellation { get; }
}
