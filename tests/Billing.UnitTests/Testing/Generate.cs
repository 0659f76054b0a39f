using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf.WellKnownTypes;

namespace Billing.UnitTests.Testing;

/// <summary>Generators of valid values.</summary>
internal static class Generate
{
    public static Gen<int> AnyInt { get; } = Gen.Choose(int.MinValue, int.MaxValue);

    public static Gen<long> AnyLong { get; } =
        from high in AnyInt
        from low in AnyInt
        select ((long)high << 32) | (uint)low;

    public static Gen<Guid> TransactionId { get; } =
        Gen.Choose(0, 255).ArrayOf(16).Select(bytes => new Guid(Array.ConvertAll(bytes, b => (byte)b)))
            .Where(id => id != Guid.Empty);

    public static Gen<string> AccountId { get; } =
        from length in Gen.Choose(1, 64)
        from characters in Gen.Elements("ABCXYZabcxyz0189._-".ToCharArray()).ArrayOf(length)
        select new string(characters);

    public static Gen<PaymentType> PaymentType { get; } =
        Gen.Elements(V1.PaymentType.Visa, V1.PaymentType.Mastercard, V1.PaymentType.Discover, V1.PaymentType.Amex);

    public static Gen<string> Currency { get; } = Gen.Elements("USD", "EUR", "CHF");

    /// <summary>An amount that a payment of any release may have: any nine decimals.</summary>
    public static Gen<Money> Amount { get; } = AmountOf(Currency, 0, Gen.Choose(1, 999_999_999));

    /// <summary>Valid amounts of a payment in currencies of 0, 2 and 3 decimals.</summary>
    public static Gen<Money> CallersAmount { get; } = Gen.OneOf(
        AmountOf(Gen.Elements("JPY", "KRW"), 1, Gen.Constant(0)),
        AmountOf(Currency, 0, Gen.Choose(1, 99).Select(cents => cents * 10_000_000)),
        AmountOf(Gen.Elements("KWD", "TND"), 0, Gen.Choose(1, 999).Select(mils => mils * 1_000_000)));

    /// <summary>A valid command of any kind, as a proxy of any release may have sent it.</summary>
    public static Gen<Command> Command { get; } =
        from id in TransactionId
        from proxy in AccountId
        from correlation in AnyLong
        from deadline in AnyLong
        from account in AccountId
        from type in PaymentType
        from amount in Amount
        from version in Gen.Choose(0, int.MaxValue)
        from kind in Gen.Elements<RequestKind>(
            RequestKinds.Payment, RequestKinds.Balance, RequestKinds.CreditLimit, RequestKinds.Statement, RequestKinds.PaymentStatus, RequestKinds.Lookup, RequestKinds.Refund,
            RequestKinds.Authorise, RequestKinds.Capture, RequestKinds.Void, RequestKinds.Expiry, RequestKinds.BalanceAt, RequestKinds.AccountStatus)
        select With(
            new Command
            {
                CorrelationId = unchecked((ulong)correlation),
                TransactionId = id.ToString(),
                ProxyTopic = kind.IsAnswered ? "billing.replies." + proxy : "",
                DeadlineUnixUs = deadline,
                ReceivedUnixUs = 1 + version,
                Timing = version % 2 == 0 ? new Timing { SentUnixUs = 1 + version } : null,
                IsQueued = kind == RequestKinds.Payment && version % 5 == 0,
            },
            kind, account, type, amount, version);

    private static Gen<Money> AmountOf(Gen<string> currencies, int leastUnits, Gen<int> nanos) =>
        from currency in currencies
        from units in Gen.Choose(leastUnits, 999_999_999)
        from fraction in nanos
        select new Money { CurrencyCode = currency, Units = units, Nanos = fraction };

    /// <summary>A reply of any kind, to one of the first two calls of a proxy.</summary>
    public static Gen<Reply> Reply { get; } =
        from correlation in Gen.Choose(1, 2)
        from id in TransactionId
        from amount in Amount
        from balance in Amount
        from version in Gen.Choose(1, int.MaxValue)
        from kind in Gen.Choose(0, 12)
        select With(new Reply { CorrelationId = (ulong)correlation }, kind, id.ToString(), amount, balance, version);

    /// <summary>An event of any kind.</summary>
    public static Gen<Event> Event { get; } =
        from id in TransactionId
        from account in Gen.Elements("a", "b", "c")
        from version in Gen.Choose(1, 5)
        from amount in Amount
        from kind in Gen.Choose(0, 9)
        select With(
            new Event { StreamId = "visa/" + account, Version = version, TransactionId = id.ToString(), DecidedUnixUs = 1_000_000, Balance = amount },
            kind, amount);

    private static Command With(Command command, RequestKind kind, string account, PaymentType type, Money amount, long version)
    {
        var payment = new MakePaymentRequest { TransactionId = command.TransactionId, AccountId = account, PaymentType = type, Amount = amount };
        payment.Notes = version % 3 == 0 ? new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "Z\u00FCrich" } } : null;
        var paymentId = new Guid((int)version, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10).ToString();
        if (kind == RequestKinds.Payment)
        {
            command.Payment = payment;
        }
        else if (kind == RequestKinds.Balance)
        {
            command.Balance = new CheckBalanceRequest { AccountId = account, PaymentType = type, MinVersion = version };
        }
        else if (kind == RequestKinds.CreditLimit)
        {
            command.CreditLimit = new SetCreditLimitRequest { TransactionId = command.TransactionId, AccountId = account, PaymentType = type, Limit = amount };
        }
        else if (kind == RequestKinds.AccountStatus)
        {
            command.AccountStatus = new SetAccountStatusRequest
            {
                TransactionId = command.TransactionId,
                AccountId = account,
                PaymentType = type,
                AccountStatus = (AccountStatus)(1 + (version % 3)),
            };
        }
        else if (kind == RequestKinds.Refund)
        {
            command.Refund = new RefundPaymentRequest
            {
                TransactionId = command.TransactionId,
                AccountId = account,
                PaymentType = type,
                PaymentId = paymentId,
                Amount = amount,
            };
        }
        else if (kind == RequestKinds.Authorise)
        {
            command.Authorise = new AuthorisePaymentRequest
            {
                TransactionId = command.TransactionId,
                AccountId = account,
                PaymentType = type,
                Amount = amount,
                HoldDuration = version % 2 == 0 ? null : new() { Seconds = version % (FieldRules.HoldSecondsMax + 1) },
            };
        }
        else if (kind == RequestKinds.Capture)
        {
            command.Capture = new CapturePaymentRequest
            {
                TransactionId = command.TransactionId,
                AccountId = account,
                PaymentType = type,
                PaymentId = paymentId,
                Amount = amount,
                IsFinal = version % 2 == 0,
            };
        }
        else if (kind == RequestKinds.Void)
        {
            command.Void = new VoidPaymentRequest { TransactionId = command.TransactionId, AccountId = account, PaymentType = type, PaymentId = paymentId };
        }
        else if (kind == RequestKinds.Expiry)
        {
            command.Expiry = new HoldExpiry { AccountId = account, PaymentType = type, PaymentId = paymentId, AsOfUnixUs = 1 + version };
        }
        else if (kind == RequestKinds.Lookup)
        {
            command.Lookup = new GetTransactionRequest { TransactionId = command.TransactionId, AccountId = account, PaymentType = type };
        }
        else if (kind == RequestKinds.Statement)
        {
            command.Statement = new StatementPageRequest
            {
                AccountId = account,
                PaymentType = type,
                AfterVersion = version,
                Limit = 1 + (int)(version % 1000),
                Opening = version % 2 == 0 ? new AccountState { Version = version, Balance = amount, CreditLimit = amount } : null,
                StartTime = version % 3 == 0 ? new Timestamp { Seconds = version, Nanos = 1 } : null,
                EndTime = version % 4 == 0 ? new Timestamp { Seconds = version + 1L } : null,
                Types_ = { Enumerable.Range(0, (int)(version % 3)).Select(i => (StatementEntryType)(1 + ((version + i) % 10))) },
            };
        }
        else if (kind == RequestKinds.BalanceAt)
        {
            command.BalanceAt = version % 2 == 0
                ? new GetBalanceAtRequest { AccountId = account, PaymentType = type, Version = version }
                : new GetBalanceAtRequest { AccountId = account, PaymentType = type, Time = new Timestamp { Seconds = version } };
        }
        else
        {
            command.PaymentStatus = Samples.Question(payment);
        }
        return command;
    }

    private static Reply With(Reply reply, int kind, string id, Money amount, Money balance, long version)
    {
        var payment = new MakePaymentResponse { TransactionId = id, Outcome = PaymentOutcome.Accepted, Balance = balance, Version = version };
        switch (kind)
        {
            case 0:
                reply.Payment = payment;
                break;
            case 1:
                reply.Balance = new CheckBalanceResponse { AccountStatus = AccountStatus.Closed, Balance = balance, Available = amount, CreditLimit = amount, OnHold = amount, Version = version, ReadTime = new Timestamp { Seconds = version } };
                break;
            case 2:
                reply.CreditLimit = new SetCreditLimitResponse { TransactionId = id, Limit = amount, Balance = balance, Version = version };
                break;
            case 3:
                reply.Statement = new StatementPage
                {
                    Entries = { new StatementEntry { AccountStatus = AccountStatus.Frozen, Version = version, Type = StatementEntryType.PaymentAccepted, TransactionId = id, DecideTime = new Timestamp { Seconds = version }, Amount = amount, Balance = balance, OnHold = amount } },
                    HasMore = version % 2 == 0,
                    Closing = new AccountState { Version = version, Balance = balance, CreditLimit = amount },
                    ReadTo = version,
                };
                break;
            case 4:
                reply.Lookup = new GetTransactionResponse
                {
                    Entry = new StatementEntry { TransactionId = id, Type = StatementEntryType.PaymentCaptured, Amount = amount, Balance = balance, Version = version },
                    Payment = new PaymentTotals { PaymentId = id, Charged = amount, Held = amount },
                };
                break;
            case 5:
                reply.PaymentStatus = new PaymentStatus { Payment = payment };
                break;
            case 6:
                reply.Refund = new RefundPaymentResponse { TransactionId = id, PaymentId = id, Amount = amount, Refunded = amount, Balance = balance, Version = version };
                break;
            case 7:
                reply.Authorise = new AuthorisePaymentResponse
                {
                    TransactionId = id,
                    Outcome = PaymentOutcome.Accepted,
                    Balance = balance,
                    OnHold = amount,
                    ExpireTime = new Timestamp { Seconds = version },
                    Version = version,
                };
                break;
            case 8:
                reply.Capture = new CapturePaymentResponse
                {
                    TransactionId = id,
                    PaymentId = id,
                    Amount = amount,
                    Charged = amount,
                    Held = amount,
                    Balance = balance,
                    Version = version,
                };
                break;
            case 9:
                reply.Void = new VoidPaymentResponse { TransactionId = id, PaymentId = id, Released = amount, Balance = balance, Version = version };
                break;
            case 10:
                reply.BalanceAt = new GetBalanceAtResponse { AccountStatus = AccountStatus.Open, Balance = balance, Available = amount, CreditLimit = amount, OnHold = amount, Version = version, DecideTime = new Timestamp { Seconds = version } };
                break;
            case 11:
                reply.AccountStatus = new SetAccountStatusResponse { TransactionId = id, AccountStatus = AccountStatus.Frozen, Balance = balance, OnHold = amount, Version = version };
                break;
            default:
                reply.Error = new Error { StatusCode = (int)(version % 17), Reason = "SOME_REASON", Message = "a message", Field = "a.field" };
                break;
        }
        return reply;
    }

    private static Event With(Event recorded, int kind, Money amount)
    {
        switch (kind)
        {
            case 0:
                recorded.PaymentAccepted = new PaymentAccepted { Amount = amount };
                break;
            case 1:
                recorded.PaymentDeclined = new PaymentDeclined { Amount = amount, Reason = DeclineReason.CreditLimitExceeded };
                break;
            case 2:
                recorded.PaymentRefunded = new PaymentRefunded { PaymentId = recorded.TransactionId, Amount = amount, Charged = amount, Refunded = amount, Held = amount };
                break;
            case 3:
                recorded.PaymentAuthorised = new PaymentAuthorised { Amount = amount, ExpireUnixUs = 2_000_000 };
                recorded.OnHold = amount;
                break;
            case 4:
                recorded.AuthorisationDeclined = new AuthorisationDeclined { Amount = amount, Reason = DeclineReason.CreditLimitExceeded };
                break;
            case 5:
                recorded.PaymentCaptured = new PaymentCaptured
                {
                    PaymentId = recorded.TransactionId,
                    Amount = amount,
                    Released = amount,
                    Charged = amount,
                    Refunded = amount,
                    Held = amount,
                };
                recorded.OnHold = amount;
                break;
            case 6:
                recorded.AuthorisationVoided = new HoldReleased { PaymentId = recorded.TransactionId, Released = amount, Charged = amount, Refunded = amount };
                break;
            case 7:
                recorded.AuthorisationExpired = new HoldReleased { PaymentId = recorded.TransactionId, Released = amount, Charged = amount, Refunded = amount };
                break;
            case 8:
                recorded.AccountStatusChanged = new AccountStatusChanged { Status = AccountStatus.Frozen };
                recorded.AccountStatus = AccountStatus.Frozen;
                break;
            default:
                recorded.CreditLimitChanged = new CreditLimitChanged { Limit = amount };
                break;
        }
        return recorded;
    }
}
