using System.Collections;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Chaos.Faults;

/// <summary>Makes valid requests, answers and events by the names and types of their fields, so that a kind that the
/// contract gains has one. About every second part that may be absent is absent.</summary>
/// <param name="random">Chooses the values.</param>
/// <param name="accountId">The account of all requests.</param>
/// <param name="paymentType">Its payment type.</param>
public sealed class ValidMessages(Random random, string accountId, PaymentType paymentType)
{
    private const string Opening = "opening";
    private const string PageToken = "page_token";

    /// <summary>Makes a command with a request of a kind. It has no reply topic.</summary>
    public Command Command(RequestKind kind)
    {
        var command = new Command { TransactionId = Id() };
        var field = Wire.V1.Command.Descriptor.FindFieldByNumber((int)kind.Field);
        field.Accessor.SetValue(command, Of(field.MessageType, command.TransactionId));
        return command;
    }

    /// <summary>Makes a message.</summary>
    /// <param name="type">Its type.</param>
    /// <param name="transactionId">Its transaction id, if it has one; a new one if null.</param>
    /// <exception cref="NotSupportedException">It has a field of a type that no message had before.</exception>
    public IMessage Of(MessageDescriptor type, string? transactionId = null)
    {
        var message = type.Parser.ParseFrom(ByteString.Empty);
        var chosen = type.Oneofs.Select(choice => choice.Fields[random.Next(choice.Fields.Count)]).ToHashSet();
        foreach (var field in type.Fields.InDeclarationOrder())
        {
            if (field.ContainingOneof is null ? IsIn(field) : chosen.Contains(field))
            {
                Set(message, field, transactionId ?? Id());
            }
        }
        return message;
    }

    private bool IsIn(FieldDescriptor field) =>
        field.Name != PageToken
        && (field.FieldType != FieldType.Message || field.MessageType == Money.Descriptor || random.Next(2) == 0);

    private void Set(IMessage message, FieldDescriptor field, string transactionId)
    {
        switch (field.Accessor.GetValue(message))
        {
            case IDictionary pairs:
                pairs["shop"] = "Zürich";
                break;
            case IList values when field.FieldType == FieldType.Enum:
                foreach (var value in field.EnumType.Values.Skip(1).Take(random.Next(3)))
                {
                    values.Add(System.Enum.ToObject(field.EnumType.ClrType, value.Number));
                }
                break;
            case IList:
                break;
            default:
                field.Accessor.SetValue(message, ValueOf(message, field, transactionId));
                break;
        }
    }

    private object ValueOf(IMessage message, FieldDescriptor field, string transactionId) => field switch
    {
        { Name: "transaction_id" } => transactionId,
        { Name: "account_id" } => accountId,
        { Name: "payment_type" } => paymentType,
        { Name: Opening } => OpeningOf(message),
        { FieldType: FieldType.String } => field.Name.EndsWith("_id", StringComparison.Ordinal) ? Id() : "text",
        { FieldType: FieldType.Bool } => random.Next(2) == 0,
        { FieldType: FieldType.Int32 } => random.Next(1, 1_000),
        { FieldType: FieldType.Int64 } => random.NextInt64(1, 1_000_000),
        { FieldType: FieldType.Bytes } => ByteString.CopyFrom(Bytes()),
        { FieldType: FieldType.Enum } => System.Enum.ToObject(
            field.EnumType.ClrType, field.EnumType.Values[random.Next(1, field.EnumType.Values.Count)].Number),
        { FieldType: FieldType.Message } => MessageOf(field),
        _ => throw new NotSupportedException($"{field.FullName} has a type that is not known here."),
    };

    // Of two times of a message, that of the higher number is later.
    private object MessageOf(FieldDescriptor field) =>
        field.MessageType == Money.Descriptor ? (random.Next(1, 1_000_000) / 100m).ToMoney("USD")
        : field.MessageType == Timestamp.Descriptor ? new Timestamp
        {
            Seconds = 1_769_860_800 + (1_000 * field.FieldNumber),
        }
        : field.MessageType == Duration.Descriptor ? new Duration { Seconds = random.Next(FieldRules.HoldSecondsMax) }
        : Of(field.MessageType);

    private static AccountState OpeningOf(IMessage page) => new()
    {
        Version = ((StatementPageRequest)page).AfterVersion,
        Balance = 1m.ToMoney("USD"),
        CreditLimit = 2m.ToMoney("USD"),
    };

    private string Id() => new Guid(Bytes()).ToString();

    private byte[] Bytes()
    {
        var bytes = new byte[16];
        random.NextBytes(bytes);
        return bytes;
    }
}
