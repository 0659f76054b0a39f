using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The look-up of what is recorded of a request. Its transaction id is that of the request, and is none of
    /// the command's own.</summary>
    public static RequestKind<GetTransactionRequest, GetTransactionResponse> Lookup { get; } = new()
    {
        Field = Command.RequestOneofCase.Lookup,
        Scope = Scopes.AccountsRead,
        Check = request =>
            FieldRules.CheckId(request.TransactionId, "transaction_id")
            ?? FieldRules.CheckAccount(request.PaymentType, request.AccountId),
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Lookup,
        WriteTo = (command, request) => command.Lookup = request,
        AnswerIn = reply => reply.Lookup,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.Entry?.TransactionId,
                (answer, id) => answer.Entry.TransactionId = id),
        ],
        ProblemOf = (_, answer) => answer.Entry is null ? "a look-up without an entry" : null,
    };
}
