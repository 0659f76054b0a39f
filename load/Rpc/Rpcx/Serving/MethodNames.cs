using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>The numbers that one client has assigned to the methods it calls. Names are looked up once per connection, when the
/// client sends them; calls refer to methods by number.</summary>
internal sealed class MethodNames(Publications publications)
{
    private readonly List<(string Name, ServerMethod? Method)> _methods = [];

    /// <summary>Adds further names.</summary>
    /// <exception cref="ProtocolException">They are not numbered consecutively, or there are too many.</exception>
    public void Add(RpcxMethodNames names)
    {
        if (names.FirstNumber != (uint)_methods.Count + 1)
        {
            throw new ProtocolException($"the names begin with number {names.FirstNumber} instead of {_methods.Count + 1}");
        }
        if (_methods.Count + names.Names.Count > MethodNumbers.CountMax)
        {
            throw new ProtocolException($"the client names more than {MethodNumbers.CountMax} methods");
        }
        _methods.AddRange(names.Names.Select(name => ($"{name.Service}/{name.Method}", publications.Find(name.Service, name.Method))));
    }

    /// <summary>Returns the name that the client gave for a number, for messages, and the published method; null if there is none.
    /// </summary>
    public (string Name, ServerMethod? Method) Find(ushort number) =>
        number > 0 && number <= _methods.Count ? _methods[number - 1] : ($"method number {number}", null);
}
