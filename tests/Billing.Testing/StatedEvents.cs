using Billing.Backends.Domain;
using Billing.V1;

namespace Billing.Testing;

/// <summary>Events of a test as a command would have decided them: with what they state of their account.</summary>
public static class StatedEvents
{
    /// <summary>The event, as it states the account after it.</summary>
    public static AccountEvent StatedOn(this AccountEvent fact, Account before)
    {
        var after = before.Apply(fact);
        fact = fact with
        {
            Balance = after.Balance,
            OnHold = after.OnHold == 0 ? null : after.OnHold,
            Status = after.Status == AccountStatus.Open ? null : after.Status,
        };
        return fact switch
        {
            PaymentDeclined declined => declined with { KeptIn = after.Currency },
            Backends.Domain.AuthorisationDeclined declined => declined with { KeptIn = after.Currency },
            Backends.Domain.AccountStatusChanged changed => changed with { KeptIn = after.Currency },
            _ => fact,
        };
    }

    /// <summary>Events that follow one another.</summary>
    public static List<AccountEvent> StatedOn(this IEnumerable<AccountEvent> facts, Account before) =>
        [.. facts.Select(fact =>
        {
            var stated = fact.StatedOn(before);
            before = before.Apply(stated);
            return stated;
        })];
}
