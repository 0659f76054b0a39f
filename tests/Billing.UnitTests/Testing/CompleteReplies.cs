using System.Collections;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;
using Enum = System.Enum;

namespace Billing.UnitTests.Testing;

/// <summary>Valid answers in which every field is set.</summary>
internal static class CompleteReplies
{
    /// <summary>The answer to a command: with its ids.</summary>
    public static Reply To(Command command)
    {
        var asked = Command.Descriptor.Oneofs.Single(oneof => oneof.Name == "request").Accessor
            .GetCaseFieldDescriptor(command);
        var reply = new Reply();
        var answered = Reply.Descriptor.FindFieldByName(asked.Name);
        answered.Accessor.SetValue(reply, Complete(answered.MessageType, (IMessage)asked.Accessor.GetValue(command)));
        if (reply.Statement is { Entries: [var entry] } page && !command.Statement.Selects(entry))
        {
            page.Entries.Clear();
        }
        return reply;
    }

    /// <summary>The answer to a request.</summary>
    public static Reply To(Request request) => To(request.ToCommand());

    private static IMessage Complete(MessageDescriptor type, IMessage request)
    {
        if (type == Money.Descriptor)
        {
            return Samples.Dollars(1, 10_000_000);
        }
        if (type == Timestamp.Descriptor)
        {
            return new Timestamp { Seconds = 1_769_900_000, Nanos = 1_000 };
        }
        var message = type.Parser.ParseFrom(ByteString.Empty);
        foreach (var field in type.Fields.InDeclarationOrder()
            .Where(field => field.ContainingOneof is null || field.ContainingOneof.Fields[0] == field))
        {
            switch (field.Accessor.GetValue(message))
            {
                case IDictionary pairs:
                    pairs["shop"] = "Zürich";
                    break;
                case IList list:
                    list.Add(ValueOf(field, request));
                    break;
                default:
                    field.Accessor.SetValue(message, ValueOf(field, request));
                    break;
            }
        }
        return message;
    }

    private static object ValueOf(FieldDescriptor field, IMessage request) => field.FieldType switch
    {
        FieldType.Message => Complete(field.MessageType, request),
        FieldType.Enum => Enum.ToObject(field.EnumType.ClrType, field.EnumType.Values[1].Number),
        FieldType.String when field.Name is "transaction_id" or "payment_id" =>
            request.Descriptor.FindFieldByName(field.Name)?.Accessor.GetValue(request) ?? Samples.TransactionId,
        FieldType.String => "text",
        FieldType.Bool => false,
        FieldType.Int32 => 1,
        FieldType.Int64 => 1L,
        FieldType.Bytes => ByteString.Empty,
        var other => throw new NotSupportedException(other.ToString()),
    };
}
