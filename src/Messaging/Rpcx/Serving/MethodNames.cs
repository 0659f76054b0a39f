using System.Buffers;
using Billing.Messaging.Rpcx.Calling;
using Billing.Messaging.Rpcx.Wire;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging.Rpcx.Serving;

/// <summary>The numbers that one client has given the methods it calls. Names are looked up when they are given, once a
/// connection; a call is found by its number.</summary>
internal sealed class MethodNames(Publications publications)
{
    private readonly List<(RpcxMethodName Name, ServerMethod? Method)> _methods = [];

    /// <summary>Takes further names.</summary>
    /// <exception cref="ProtocolException">They are not numbered in turn, or too many.</exception>
    public void Add(RpcxMethodNames? names)
    {
        if (names is null)
        {
            return;
        }
        if (names.FirstNumber != (uint)_methods.Count + 1)
        {
            throw new ProtocolException($"method number {names.FirstNumber} was named when {_methods.Count + 1} was the next");
        }
        if (_methods.Count + names.Names.Count > MethodNumbers.CountMax)
        {
            throw new ProtocolException($"more than {MethodNumbers.CountMax} methods were named");
        }
        _methods.AddRange(names.Names.Select(name => (name, publications.Find(name.Service, name.Method))));
    }

    /// <summary>Takes further names.</summary>
    /// <exception cref="ProtocolException">The payload holds none, or they are wrong.</exception>
    public void Add(in ReadOnlySequence<byte> payload)
    {
        try
        {
            Add(RpcxMethodNames.Parser.ParseFrom(payload));
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new ProtocolException("a frame of names holds no RpcxMethodNames: " + e.Message);
        }
    }

    /// <summary>A method that is named and published.</summary>
    public ServerMethod? Find(ushort number) => number - 1 is >= 0 and var index && index < _methods.Count ? _methods[index].Method : null;

    /// <summary>What the client called it, for messages.</summary>
    public string NameOf(ushort number) => number - 1 is >= 0 and var index && index < _methods.Count
        ? $"{_methods[index].Name.Service}/{_methods[index].Name.Method}"
        : $"method number {number}";
}
