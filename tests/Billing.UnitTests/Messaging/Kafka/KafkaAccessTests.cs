using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka.Admin;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class KafkaAccessTests
{
    [Fact]
    public void A_line_grants_each_of_its_operations_and_a_star_means_a_prefix()
    {
        var rights = KafkaAccess.Parse(
            [
                "# nothing", "", "proxy topic:billing.replies.* Read  Write # both",
                "backend group:billing-payments Read",
            ],
            []);

        Assert.Equal(
            [
                "User:proxy Read Topic billing.replies. Prefixed", "User:proxy Write Topic billing.replies. Prefixed",
                "User:backend Read Group billing-payments Literal",
            ],
            rights.Select(r =>
                $"{r.Entry.Principal} {r.Entry.Operation} {r.Pattern.Type} {r.Pattern.Name} "
                + $"{r.Pattern.ResourcePatternType}"));
        Assert.All(rights, r => Assert.Equal((AclPermissionType.Allow, "*"), (r.Entry.PermissionType, r.Entry.Host)));
    }

    [Fact]
    public void A_line_for_each_proxy_is_one_of_each_that_is_named()
    {
        var rights = KafkaAccess.Parse(
            ["{proxy} topic:billing.replies.{proxy}.* Read", "backend topic:billing.events Write"], ["one", "two"]);

        Assert.Equal(
            ["User:one billing.replies.one.", "User:two billing.replies.two.", "User:backend billing.events"],
            rights.Select(right => $"{right.Entry.Principal} {right.Pattern.Name}"));
    }

    [Theory]
    [InlineData("proxy topic:a", "Line 1: 'proxy topic:a' must be")]
    [InlineData("proxy queue:a Read", "Line 1: 'queue:a' must be topic:NAME or group:NAME")]
    [InlineData("proxy topic: Read", "Line 1: 'topic:' must be")]
    [InlineData("proxy topic:a Reed", "Line 1: 'Reed' is not an operation")]
    [InlineData("proxy topic:a 3", "Line 1: '3' is not an operation")]
    [InlineData("proxy topic:a Any", "Line 1: 'Any' is not an operation")]
    [InlineData("{proxy} topic:a Read", "Line 1: '{proxy} topic:a Read' stands for each proxy ({proxy}), but no")]
    [InlineData("backend topic:{proxy} Read", "Line 1: 'backend topic:{proxy} Read' stands for each proxy")]
    public void An_error_is_reported_with_its_line(string line, string message) =>
        Assert.StartsWith(
            message, Assert.Throws<FormatException>(() => KafkaAccess.Parse([line], [])).Message,
            StringComparison.Ordinal);

    [Fact]
    public void The_access_list_of_the_bootstrap_lets_only_payment_backends_and_operators_write_events()
    {
        var rights = KafkaAccess.Parse(Repository.Lines("deploy/bootstrap/kafka/access.txt"), ["proxy-1"]);

        Assert.Equal(
            ["User:operator", "User:payment-backend"],
            rights.Where(r => r.Entry.Operation == AclOperation.Write && r.Pattern.Name == "billing.events")
                .Select(r => r.Entry.Principal).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void The_access_list_of_the_bootstrap_lets_operators_find_and_publish_again_what_a_restore_has_lost()
    {
        var rights = KafkaAccess.Parse(Repository.Lines("deploy/bootstrap/kafka/access.txt"), ["proxy-1"])
            .Where(right => right.Entry.Principal == "User:operator").ToList();

        Assert.Equal(
            [AclOperation.Read, AclOperation.Write],
            rights.Where(right => right.Pattern.Name == "billing.events").Select(right => right.Entry.Operation));
        Assert.Contains(
            rights,
            right => right.Entry.Operation == AclOperation.Describe && right.Pattern.Type == ResourceType.Group
                && "billing-replay".StartsWith(right.Pattern.Name, StringComparison.Ordinal));
    }

    [Fact]
    public void The_access_list_of_the_bootstrap_lets_no_proxy_do_anything_with_the_answers_of_another_one()
    {
        // The name of the second one begins with that of the first one.
        string[] proxies = ["proxy-1", "proxy-10"];

        var rights = KafkaAccess.Parse(Repository.Lines("deploy/bootstrap/kafka/access.txt"), proxies);

        Assert.All(proxies, proxy => Assert.Equal(
            proxies.Select(other => (other, other == proxy)),
            proxies.Select(other => (other, rights.Any(right => right.Entry.Principal == "User:" + proxy
                && right.Entry.Operation != AclOperation.Describe && right.Pattern.Type == ResourceType.Topic
                && ProxyId.ReplyTopic(other, "20260131T120000Z-5f2c9a10")
                    .StartsWith(right.Pattern.Name, StringComparison.Ordinal))))));
    }
}
