using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Requests;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.UnitTests.House;

/// <summary>The names in docs/wire-protocol.md are those of the code.</summary>
public sealed partial class WireProtocolTests
{
    // The names of consumer groups have the same prefix as headers.
    private static readonly string[] ConsumerGroups = [Groups.Payments, Groups.Balances, Groups.Webhooks];

    private static readonly string[] Page = Repository.Lines("docs/wire-protocol.md");

    private static readonly List<string> Quoted =
    [
        .. Page.SelectMany(line => Quotation().Matches(line)).Select(m => m.Groups[1].Value),
    ];

    [Fact]
    public void The_page_names_exactly_the_existing_topics() => Assert.Equal(
        Topics.AllRequests.Append(Topics.Events).Append(Topics.DeadLetters).Append(Topics.Clocks)
            .Append(Topics.ReplyPrefix).Order(StringComparer.Ordinal),
        Quoted.Where(text => TopicName().IsMatch(text) && text != "billing.v1").Distinct()
            .Order(StringComparer.Ordinal));

    [Fact]
    public void The_page_names_exactly_the_existing_headers_and_groups()
    {
        var headers = typeof(DeadLetterPublisher).GetFields(BindingFlags.Public | BindingFlags.Static)
            .Where(f => f.Name.EndsWith("Header", StringComparison.Ordinal))
            .Select(f => (string)f.GetRawConstantValue()!)
            .Append(DeadLetterReplay.ReplayedFromHeader).Append(WireFormat.VersionHeader);

        Assert.Equal(
            headers.Concat(ConsumerGroups).Order(StringComparer.Ordinal),
            Quoted.Where(text => HeaderName().IsMatch(text)).Distinct().Order(StringComparer.Ordinal));
        Assert.Contains(WireFormat.TraceParentHeader, Quoted);
    }

    [Fact]
    public void The_reasons_on_the_page_are_constants_of_the_contract()
    {
        var reasons = typeof(ErrorReasons).GetFields().Select(f => (string)f.GetRawConstantValue()!)
            .ToHashSet(StringComparer.Ordinal);
        var named = Quoted.Where(text => ReasonName().IsMatch(text)).ToList();
        Assert.NotEmpty(named);
        Assert.Subset(reasons, named.ToHashSet(StringComparer.Ordinal));
    }

    [Fact]
    public void The_limits_on_the_page_are_those_of_the_code()
    {
        var page = string.Join(' ', Page.Select(line => line.Trim()));
        Assert.All(
            [
                $"1 to {FieldRules.AccountIdLengthMax} of the same", $"1 to {RequestKinds.StatementEntriesMax} entries",
                Bound($"at most {FieldRules.AmountUnitsMax} units"), Bound($"{FieldRules.LimitUnitsMax} units"),
                Bound($"{KafkaAnswerPublisher.ReplyBatchBytesMax} bytes"), $"is not `{WireFormat.Version}`",
            ],
            bound => Assert.Contains(bound, page, StringComparison.Ordinal));
    }

    private static string Bound(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quotation();

    [GeneratedRegex(@"^billing\.[a-z.-]+$")]
    private static partial Regex TopicName();

    [GeneratedRegex("^billing-[a-z-]+$")]
    private static partial Regex HeaderName();

    [GeneratedRegex("^[A-Z]+_[A-Z_]+$")]
    private static partial Regex ReasonName();
}
