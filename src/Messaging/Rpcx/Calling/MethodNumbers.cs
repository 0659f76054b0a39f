using Billing.Wire.V1;

namespace Billing.Messaging.Rpcx.Calling;

/// <summary>The numbers that a client has given the methods it knows, in every one of its connections the same: the first
/// method is number 1.</summary>
internal sealed class MethodNumbers
{
    /// <summary>Methods that a connection may name.</summary>
    public const int CountMax = 4_096;

    private readonly Lock _gate = new();
    private readonly List<RpcxMethodName> _names = [];

    /// <summary>The number of a method, the same for the same names.</summary>
    /// <exception cref="ArgumentException">There are too many methods.</exception>
    public ushort Number(string service, string method)
    {
        var name = new RpcxMethodName { Service = service, Method = method };
        lock (_gate)
        {
            var index = _names.IndexOf(name);
            if (index < 0)
            {
                if (_names.Count == CountMax)
                {
                    throw new ArgumentException($"A client can call {CountMax} methods and no more; {service}/{method} is above.");
                }
                index = _names.Count;
                _names.Add(name);
            }
            return (ushort)(index + 1);
        }
    }

    /// <summary>The methods from a number on.</summary>
    public RpcxMethodNames From(int number)
    {
        lock (_gate)
        {
            return new RpcxMethodNames { FirstNumber = (uint)number, Names = { _names.Skip(number - 1) } };
        }
    }
}
