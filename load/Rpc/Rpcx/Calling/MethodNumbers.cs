using Billing.Wire.V1;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>The numbers that a client has assigned to the methods of its proxies, the same on all of its connections,
/// starting at 1.</summary>
internal sealed class MethodNumbers
{
    public const int CountMax = 4_096;

    private readonly Lock _gate = new();
    private readonly List<RpcxMethodName> _names = [];

    /// <summary>Returns the number of a method; the same names always get the same number.</summary>
    /// <exception cref="ArgumentException">There are more than <see cref="CountMax"/> methods.</exception>
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
                    throw new ArgumentException($"A client can call at most {CountMax} methods; {service}/{method} is one more.");
                }
                index = _names.Count;
                _names.Add(name);
            }
            return (ushort)(index + 1);
        }
    }

    /// <summary>Returns the names of the methods with this number and above.</summary>
    public RpcxMethodNames From(int number)
    {
        lock (_gate)
        {
            return new RpcxMethodNames { FirstNumber = (uint)number, Names = { _names.Skip(number - 1) } };
        }
    }
}
