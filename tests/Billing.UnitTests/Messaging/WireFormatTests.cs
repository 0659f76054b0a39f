using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.UnitTests.Messaging;

public sealed class WireFormatTests
{
    [Fact]
    public void A_valid_command_is_read_as_it_was_written() => Generate.Command.Holds(command =>
    {
        Assert.True(WireFormat.TryReadCommand(
            command.ToByteArray(), WireFormat.VersionBytes.Span, out var read, out var refusal));
        Assert.Equal(command, read);
        Assert.Null(refusal);
    });

    [Theory]
    [InlineData("", "web", false)]
    [InlineData("a\0b", "", false)]
    [InlineData("alice", "line\nend", false)]
    [InlineData("alice", "", true)]
    public void A_command_is_refused_if_its_principal_has_a_name_that_cannot_be_stored(
        string subject, string clientId, bool isRead)
    {
        var command = Samples.PaymentCommand();
        command.Principal = new Principal { Subject = subject, ClientId = clientId };
        var longer = Samples.PaymentCommand();
        longer.Principal = new Principal { Subject = new string('a', WireFormat.NameMax + 1) };

        Assert.Equal(isRead, WireFormat.Refusal(command) is null);
        Assert.StartsWith("principal ", WireFormat.Refusal(longer), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, 1, true)]
    [InlineData(0, 1, false)]
    [InlineData(1, 0, false)]
    [InlineData(-1, 1, false)]
    [InlineData(long.MaxValue, 1, false)]
    [InlineData(1, long.MaxValue, false)]
    public void A_command_with_timing_must_have_valid_times(long sent, long received, bool accepted)
    {
        var command = Samples.PaymentCommand();
        command.ReceivedUnixUs = received;
        command.Timing = new Timing { SentUnixUs = sent };
        Assert.Equal(
            accepted,
            WireFormat.TryReadCommand(command.ToByteArray(), WireFormat.VersionBytes.Span, out _, out var refusal));
        Assert.Equal(accepted ? null : "timing.sent_unix_us or received_unix_us is not a time", refusal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("2")]
    [InlineData("1 ")]
    [InlineData("11")]
    public void An_unknown_or_missing_version_header_is_refused(string version)
    {
        var bytes = Samples.PaymentCommand().ToByteArray();
        Assert.False(WireFormat.TryReadCommand(
            bytes, System.Text.Encoding.ASCII.GetBytes(version), out var command, out var refusal));
        Assert.Contains("billing-wire", refusal, StringComparison.Ordinal);
        Assert.Null(command);
    }

    [Fact]
    public void Bytes_that_are_not_a_command_are_refused()
    {
        Assert.False(WireFormat.TryReadCommand(
            "not protobuf"u8, WireFormat.VersionBytes.Span, out var command, out var refusal));
        Assert.StartsWith("the value is not a Command", refusal, StringComparison.Ordinal);
        Assert.Null(command);
    }

    [Theory]
    [InlineData("")]
    [InlineData("billing.events")]
    [InlineData("billing.replies.")]
    [InlineData("billing.replies.a/b")]
    public void An_invalid_reply_topic_is_refused(string topic)
    {
        var command = Samples.PaymentCommand();
        command.ProxyTopic = topic;
        AssertRefused("proxy_topic", command);
    }

    [Theory]
    [InlineData("")]
    [InlineData("not-a-uuid")]
    public void A_transaction_id_that_is_not_a_uuid_is_refused(string id)
    {
        var payment = Samples.PaymentCommand();
        payment.TransactionId = id;
        payment.Payment.TransactionId = id;
        AssertRefused("transaction_id", payment);
        var balance = Samples.BalanceCommand();
        balance.TransactionId = id;
        AssertRefused("transaction_id", balance);
    }

    [Fact]
    public void A_payment_with_another_transaction_id_than_its_command_is_refused()
    {
        var command = Samples.PaymentCommand();
        command.Payment.TransactionId = "11111111-1111-1111-1111-111111111111";
        AssertRefused("payment.transaction_id", command);
    }

    [Fact]
    public void A_question_about_a_payment_that_breaks_a_rule_is_refused()
    {
        var command = Samples.PaymentCommand();
        command.PaymentStatus = new PaymentStatusRequest();
        AssertRefused("transaction_id", command);
        command.PaymentStatus = Samples.Question(Samples.Payment("a/b"));
        AssertRefused("account_id", command);
        command.PaymentStatus = Samples.Question(Samples.Payment());
        command.PaymentStatus.PaymentType = PaymentType.Unspecified;
        AssertRefused("payment_type", command);
        command.PaymentStatus = Samples.Question(Samples.Payment());
        command.PaymentStatus.Fingerprint = ByteString.CopyFrom(new byte[15]);
        AssertRefused("fingerprint must have 16 bytes; it has 15", command);
        command.PaymentStatus = Samples.Question(Samples.Payment());
        command.TransactionId = "11111111-1111-1111-1111-111111111111";
        AssertRefused("payment_status.transaction_id", command);
    }

    [Fact]
    public void A_command_without_a_request_is_refused() =>
        AssertRefused(
            "no request", new Command { TransactionId = Samples.TransactionId, ProxyTopic = Samples.ReplyTopic });

    [Fact]
    public void An_invalid_request_is_refused_with_the_name_of_the_field()
    {
        AssertRefused("amount.units", Samples.PaymentCommand(units: FieldRules.AmountUnitsMax + 1));
        AssertRefused("account_id", Samples.BalanceCommand("a/b"));
    }

    [Fact]
    public void A_command_of_a_release_that_took_other_currencies_is_read()
    {
        var payment = Samples.PaymentCommand();
        payment.Payment.Amount = new Money { CurrencyCode = "USE", Units = 1, Nanos = 1 };
        var limit = Samples.PaymentCommand();
        limit.CreditLimit = new SetCreditLimitRequest
        {
            TransactionId = Samples.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            Limit = payment.Payment.Amount,
        };
        var status = Samples.PaymentCommand();
        status.PaymentStatus = Samples.Question(payment.Payment);

        Assert.Equal([null, null, null], ((Command[])[payment, limit, status]).Select(WireFormat.Refusal));
        Assert.Null(RequestKinds.PaymentStatus.Check(status.PaymentStatus));
    }

    [Fact]
    public void The_version_header_is_the_contracts_major_version() =>
        Assert.Equal(
            WireFormat.Version.ToString(System.Globalization.CultureInfo.InvariantCulture),
            System.Text.Encoding.ASCII.GetString(WireFormat.VersionBytes.Span));

    private static void AssertRefused(string naming, Command command)
    {
        Assert.False(WireFormat.TryReadCommand(
            command.ToByteArray(), WireFormat.VersionBytes.Span, out var read, out var refusal));
        Assert.Contains(naming, refusal, StringComparison.Ordinal);
        // The command is returned all the same, so that its sender can be answered.
        Assert.Equal(command, read);
    }

    [Fact]
    public void A_command_belongs_only_on_the_topic_of_its_kind_and_payment_type() => Generate.Command.Holds(command =>
    {
        var route = CommandRoute.Of(command);
        var key = System.Text.Encoding.UTF8.GetBytes(route.AccountId);
        Assert.Equal(
            [Topics.Of(route)],
            Topics.AllRequests.Where(topic => WireFormat.RoutingError(command, topic, key) is null));
        Assert.NotNull(WireFormat.RoutingError(command, Topics.Of(route), []));
        Assert.NotNull(WireFormat.RoutingError(command, Topics.Of(route), [.. key, 0]));
    });
}
