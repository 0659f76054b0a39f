using System.Buffers;
using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>The numbers that one client has assigned to the methods it calls. Names are looked up once per connection, when the
/// client sends them; calls refer to methods by number.</summary>
internal sealed class MethodNames(Publications publications)
{
    private readonly List<(RpcxMethodName Name, ServerMethod? Method)> _methods = [];

    /// <summary>Adds further names.</summary>
    /// <exception cref="ProtocolException">They are not numbered consecutively, or there are too many.</exception>
    public void Add(RpcxMethodNames? names)
    {
        if (names is null)
        {
            return;
        }
        if (names.FirstNumber != (uint)_methods.Count + 1)
        {
            throw new ProtocolException($"the names begin with number {names.FirstNumber} instead of {_methods.Count + 1}");
        }
        if (_methods.Count + names.Names.Count > MethodNumbers.CountMax)
        {
            throw new ProtocolException($"the client names more than {MethodNumbers.CountMax} methods");
        }
        _methods.AddRange(names.Names.Select(name => (name, publications.Find(name.Service, name.Method))));
    }

    /// <summary>Adds further names.</summary>
    /// <exception cref="ProtocolException">The payload does not contain names, or they are invalid.</exception>
    public void Add(in ReadOnlySequence<byte> payload)
    {
        try
        {
            Add(RpcxMethodNames.Parser.ParseFrom(payload));
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new ProtocolException("a Names frame does not contain RpcxMethodNames: " + e.Message);
        }
    }

    /// <summary>Returns the published method with a number; null if there is none.</summary>
    public ServerMethod? Find(ushort number) => number - 1 is >= 0 and var index && index < _methods.Count ? _methods[index].Method : null;

    /// <summary>Returns the name that the client gave for a number, for messages.</summary>
    public string NameOf(ushort number) => number - 1 is >= 0 and var index && index < _methods.Count
        ? $"{_methods[index].Name.Service}/{_methods[index].Name.Method}"
        : $"method number {number}";
}
