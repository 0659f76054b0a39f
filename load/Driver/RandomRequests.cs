using Billing.Contracts;
using Billing.Driver.Lives;
using Billing.V1;

namespace Billing.Driver;

/// <summary>Payments and balance checks for random accounts. Not thread-safe.</summary>
/// <param name="accounts">Number of accounts of each payment type; at least 1.</param>
/// <param name="random">Chooses accounts and amounts; transaction ids do not depend on it.</param>
/// <param name="otherCurrencyPercent">Share of payments in euros instead of dollars, in percent, 0 to 100.</param>
/// <param name="prefix">The prefix of the accounts' ids, followed by their numbers, from 0.</param>
/// <param name="types">The payment types; null for all.</param>
/// <param name="notesPercent">Share of payments with notes, in percent, 0 to 100.</param>
public sealed class RandomRequests(
    int accounts, Random random, int otherCurrencyPercent = 0, string prefix = RandomRequests.DefaultPrefix,
    IReadOnlyList<PaymentType>? types = null, int notesPercent = 0)
{
    /// <summary>The prefix of the accounts' ids by default.</summary>
    public const string DefaultPrefix = "acct-";

    private const int Orders = 100;

    // Some of them can be written in JSON in several ways.
    private static readonly string[] Shops = ["Z\u00FCrich", "Q&A \"7\" <\u2713>", "online", ""];

    private readonly IReadOnlyList<PaymentType> _types = types ?? PaymentTypes.All;

    /// <summary>The requests of a load's sender.</summary>
    /// <exception cref="ArgumentException">A payment type does not exist.</exception>
    public static RandomRequests Of(LoadSpec spec, int seed)
    {
        ArgumentNullException.ThrowIfNull(spec);
        PaymentType[]? types = spec.PaymentTypes.Count == 0
            ? null
            : [.. spec.PaymentTypes.Select(name => Enum.Parse<PaymentType>(name, ignoreCase: true))];
        return new RandomRequests(
            spec.Accounts, new Random(seed), spec.OtherCurrencyPercent, spec.AccountPrefix, types, spec.NotesPercent);
    }

    /// <summary>The next payment, of 1 to 100 dollars or, for the given share of payments, euros.</summary>
    public MakePaymentRequest Payment() => new()
    {
        TransactionId = Guid.CreateVersion7().ToString(),
        AccountId = Account(),
        PaymentType = Type(),
        Amount = new Money
        {
            CurrencyCode = Currency(),
            Units = random.Next(1, 100),
            Nanos = random.Next(0, 100) * 10_000_000,
        },
        Notes = IsAmong(notesPercent) ? Notes() : null,
    };

    /// <summary>The next payment, with all that is to become of it.</summary>
    /// <param name="holdSeconds">How long amounts are on hold, one of these in seconds;
    /// 0 for the platform's default.</param>
    public PaymentLife Life(IReadOnlyList<int> holdSeconds) => PaymentLife.Of(Payment(), random, holdSeconds);

    /// <summary>The next balance check.</summary>
    public CheckBalanceRequest Balance() => new() { AccountId = Account(), PaymentType = Type() };

    /// <summary>True at random, with the given probability.</summary>
    /// <param name="percent">The probability in percent, 0 to 100.</param>
    public bool IsAmong(int percent) => percent > 0 && random.Next(100) < percent;

    // Several payments have the same.
    private PaymentNotes Notes()
    {
        var notes = new PaymentNotes { Reference = $"order {random.Next(Orders)}" };
        if (random.Next(2) == 0)
        {
            notes.Metadata.Add("shop", Shops[random.Next(Shops.Length)]);
        }
        return notes;
    }

    private string Currency() => IsAmong(otherCurrencyPercent) ? "EUR" : "USD";

    private string Account() => prefix + random.Next(accounts);

    private PaymentType Type() => _types[random.Next(_types.Count)];
}
