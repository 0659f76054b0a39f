using System.Text.Json;
using Billing.Rpc;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.UnitTests.Rpc;

public sealed class WireJsonTests
{
    private static readonly Money Amount = new() { CurrencyCode = "USD", Units = 12, Nanos = 340_000_000 };

    public static TheoryData<Command> Commands { get; } =
    [
        new Command { CorrelationId = ulong.MaxValue, TransactionId = "t", DeadlineUnixUs = long.MaxValue, ReceivedUnixUs = 1,
            Payment = new MakePaymentRequest { TransactionId = "t", AccountId = "a", PaymentType = PaymentType.Amex, Amount = Amount } },
        new Command { Balance = new CheckBalanceRequest { AccountId = "ä\"\\", PaymentType = PaymentType.Visa, MinVersion = 7 } },
        new Command { CreditLimit = new SetCreditLimitRequest { TransactionId = "t", Limit = Amount } },
        new Command { Statement = new StatementPageRequest { AfterVersion = 3, Limit = 5,
            Opening = new AccountState { Version = 3, Balance = Amount, CreditLimit = Amount } } },
        new Command(),
    ];

    public static TheoryData<Reply> Replies { get; } =
    [
        new Reply { CorrelationId = 5, Payment = new MakePaymentResponse { TransactionId = "t", Outcome = PaymentOutcome.Declined,
            DeclineReason = DeclineReason.CreditLimitExceeded, Message = "no", Balance = Amount, Version = 9 } },
        new Reply { Balance = new CheckBalanceResponse { Balance = Amount, Version = 2,
            ReadTime = new Timestamp { Seconds = 1_700_000_000, Nanos = 5 } } },
        new Reply { Error = new Error { StatusCode = 14, Reason = "R", Message = "m", Field = "f" } },
        new Reply { CreditLimit = new SetCreditLimitResponse { Limit = Amount } },
        new Reply { Statement = new StatementPage { HasMore = true, Closing = new AccountState { Version = 2 },
            Entries = { new StatementEntry { Version = 1, Amount = Amount }, new StatementEntry { Version = 2 } } } },
    ];

    [Theory]
    [MemberData(nameof(Commands))]
    public void A_command_is_read_as_it_was_written(Command command) => Assert.Equal(
        command, JsonSerializer.Deserialize(JsonSerializer.Serialize(command, WireJson.Command), WireJson.Command));

    [Theory]
    [MemberData(nameof(Replies))]
    public void A_reply_is_read_as_it_was_written(Reply reply) => Assert.Equal(
        reply, JsonSerializer.Deserialize(JsonSerializer.Serialize(reply, WireJson.Reply), WireJson.Reply));

    [Fact]
    public void Fields_have_the_names_of_the_contract_and_defaults_are_omitted() => Assert.Equal(
        """{"transaction_id":"t","payment":{"account_id":"a","payment_type":1,"amount":{"currency_code":"USD","units":5}}}""",
        JsonSerializer.Serialize(
            new Command
            {
                TransactionId = "t",
                Payment = new MakePaymentRequest
                {
                    AccountId = "a",
                    PaymentType = PaymentType.Visa,
                    Amount = new Money { CurrencyCode = "USD", Units = 5 },
                },
            },
            WireJson.Command));
}
