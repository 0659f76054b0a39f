using System.Globalization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Answers questions for balances of the past from the event store.</summary>
internal static class PastBalances
{
    /// <summary>Answers one.</summary>
    public static async Task<Reply> AnswerAsync(
        IAccountHistory history, Command command, CancellationToken cancellationToken)
    {
        var (request, streamId) = (command.BalanceAt, CommandRoute.Of(command).StreamId);
        var past = request.HasVersion
            ? await history.AtAsync(streamId, request.Version, cancellationToken)
            : await history.AtAsync(streamId, request.Time.ToDateTimeOffset(), cancellationToken);
        return past.Account is { } account ? new Reply { BalanceAt = Answer(account, past.DecidedAt) }
            : Replies.Error(command.CorrelationId, StatusCode.OutOfRange, ErrorReasons.VersionNotReached,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"version is {request.Version}; the account is at version {past.End}."),
                "version");
    }

    private static GetBalanceAtResponse Answer(Account account, DateTimeOffset? decidedAt) => new()
    {
        Balance = account.Balance.ToMoney(account.Currency ?? ""),
        Available = account.Available.ToMoney(account.Currency ?? ""),
        CreditLimit = account.CreditLimit.ToMoney(account.Currency ?? ""),
        OnHold = account.OnHold.ToMoney(account.Currency ?? ""),
        AccountStatus = account.Status,
        Version = account.Version,
        DecideTime = decidedAt?.ToTimestamp(),
    };
}
