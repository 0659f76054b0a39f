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
            ]);

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

    [Theory]
    [InlineData("proxy topic:a", "Line 1: 'proxy topic:a' must be")]
    [InlineData("proxy queue:a Read", "Line 1: 'queue:a' must be topic:NAME or group:NAME")]
    [InlineData("proxy topic: Read", "Line 1: 'topic:' must be")]
    [InlineData("proxy topic:a Reed", "Line 1: 'Reed' is not an operation")]
    [InlineData("proxy topic:a 3", "Line 1: '3' is not an operation")]
    [InlineData("proxy topic:a Any", "Line 1: 'Any' is not an operation")]
    public void An_error_is_reported_with_its_line(string line, string message) =>
        Assert.StartsWith(
            message, Assert.Throws<FormatException>(() => KafkaAccess.Parse([line])).Message, StringComparison.Ordinal);

    [Fact]
    public void The_access_list_of_the_bootstrap_lets_only_payment_backends_and_operators_write_events()
    {
        var rights = KafkaAccess.Parse(Repository.Lines("deploy/bootstrap/kafka/access.txt"));

        Assert.Equal(
            ["User:operator", "User:payment-backend"],
            rights.Where(r => r.Entry.Operation == AclOperation.Write && r.Pattern.Name == "billing.events")
                .Select(r => r.Entry.Principal).Order(StringComparer.Ordinal));
    }
}
