using Billing.Chaos.Faults;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.Testing;

/// <summary>The ids of requests and answers of any kind, by the names of their fields.</summary>
internal static class MessageIds
{
    private static readonly string[] Names = ["transaction_id", "payment_id"];

    /// <summary>The kinds of requests of the wire contract, by the names of their fields in a command.</summary>
    public static IEnumerable<FieldDescriptor> Requests =>
        Command.Descriptor.Oneofs.Single(oneof => oneof.Name == "request").Fields;

    /// <summary>The ids of a message and of the messages in it, except in lists: the names of their fields, and how to
    /// read and write them.</summary>
    public static IEnumerable<(string Name, Func<string> Get, Action<string> Set)> Of(IMessage message)
    {
        foreach (var field in message.Descriptor.Fields.InDeclarationOrder().Where(field => !field.IsRepeated))
        {
            if (field.FieldType == FieldType.String && Names.Contains(field.Name))
            {
                yield return (field.Name, () => (string)field.Accessor.GetValue(message), id =>
                    field.Accessor.SetValue(message, id));
            }
            else if (field.FieldType == FieldType.Message && field.Accessor.GetValue(message) is IMessage part)
            {
                foreach (var id in Of(part))
                {
                    yield return id;
                }
            }
        }
    }

    /// <summary>A valid request of a type. Its ids are in upper case.</summary>
    public static IMessage RequestOf(MessageDescriptor type)
    {
        var request = new ValidMessages(new Random(1), "acct-1", V1.PaymentType.Mastercard).Of(type);
        foreach (var (_, get, set) in Of(request))
        {
            set(get().ToUpperInvariant());
        }
        return request;
    }

    /// <summary>An answer of a type, with the messages that an answer must have.</summary>
    public static IMessage AnswerOf(MessageDescriptor type)
    {
        var answer = type.Parser.ParseFrom(ByteString.Empty);
        if (answer is PaymentStatus status)
        {
            status.Payment = new V1.MakePaymentResponse { Outcome = V1.PaymentOutcome.Accepted };
        }
        if (answer is V1.GetTransactionResponse found)
        {
            found.Entry = new V1.StatementEntry();
        }
        return answer;
    }

    /// <summary>The answer to a command as a backend gives it that has recorded the ids in lower case.</summary>
    public static Reply AnswerTo(Command command)
    {
        var reply = CompleteReplies.To(command);
        foreach (var (_, get, set) in Of(reply))
        {
            set(get().ToLowerInvariant());
        }
        return reply;
    }

    /// <summary>An answer of a kind with some ids; null if requests of the kind are not answered.</summary>
    public static Reply? AnswerOf(string kind, IReadOnlyDictionary<string, string> ids)
    {
        if (Reply.Descriptor.FindFieldByName(kind) is not { } field)
        {
            return null;
        }
        var answer = AnswerOf(field.MessageType);
        foreach (var (name, _, set) in Of(answer).Where(id => ids.ContainsKey(id.Name)))
        {
            set(ids[name]);
        }
        var reply = new Reply();
        field.Accessor.SetValue(reply, answer);
        return reply;
    }
}
