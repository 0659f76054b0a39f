using System.Text.RegularExpressions;
using Billing.LocalStack.Kafka;

namespace Billing.DeploymentTests;

/// <summary>Checks of the Containerfiles that need no build.</summary>
public sealed partial class ReleaseContainerfile
{
    private static readonly string Text = Read("Containerfile");

    [Theory]
    [InlineData("Containerfile")]
    [InlineData("Containerfile.servers")]
    public void The_Containerfiles_follow_our_rules(string file) => Assert.Empty(Problems(Read(file)));

    [Fact]
    public void The_servers_have_the_Kafka_of_the_release() =>
        Assert.Contains(
            $"ADD kafka-{KafkaPrograms.Version}.tar.gz", Read("Containerfile.servers"), StringComparison.Ordinal);

    [Theory]
    [InlineData("debian:bookworm-slim", "debian:latest", "its base is not pinned")]
    [InlineData("USER 10001:10001", "USER billing", "no user by number")]
    [InlineData("USER 10001:10001\n", "", "no user by number")]
    [InlineData("USER 10001:10001", "USER 0:0", "no user by number")]
    [InlineData("ENTRYPOINT [", "USER 0\nENTRYPOINT [", "no user by number")]
    [InlineData("${VERSION}-${RUNTIME}", "${VERSON}-${RUNTIME}", "no ARG VERSON")]
    [InlineData("ARG RUNTIME=linux-x64", "ARG RUNTIME=linux-x64\nARG FURTHER", "build.sh does not pass FURTHER")]
    [InlineData(
        "ENTRYPOINT [\"/usr/local/bin/billing\"]", "ENTRYPOINT /usr/local/bin/billing", "a shell starts the program")]
    public void The_rules_find_a_planted_mistake(string there, string planted, string found)
    {
        Assert.Contains(there, Text, StringComparison.Ordinal);

        Assert.Contains(
            Problems(Text.Replace(there, planted, StringComparison.Ordinal)),
            problem => problem.Contains(found, StringComparison.Ordinal));
    }

    private static string Read(string file) =>
        File.ReadAllText(Path.Combine(Repository.Root, "deploy/containers", file));

    private static IEnumerable<string> Problems(string text)
    {
        var builder = Read("build.sh");
        var arguments = Argument().Matches(text).Select(match => match.Groups[1].Value).ToHashSet();
        if (!Regex.IsMatch(text, @"^ARG BASE=\S+:(?!latest)\S+$", RegexOptions.Multiline))
        {
            yield return "its base is not pinned";
        }
        if (!Regex.IsMatch(User().Matches(text).LastOrDefault()?.Groups[1].Value ?? "", @"^[1-9]\d*:[1-9]\d*$"))
        {
            yield return "no user by number, so that an engine cannot verify that it is not root";
        }
        // A signal would end the shell and not reach the program.
        if (!text.Contains("\nENTRYPOINT [", StringComparison.Ordinal))
        {
            yield return "a shell starts the program";
        }
        foreach (var name in Used().Matches(text).Select(match => match.Groups[1].Value)
            .Where(name => name != "Status" && !arguments.Contains(name)).Distinct())
        {
            yield return $"no ARG {name}";
        }
        foreach (var name in arguments.Where(name => !builder.Contains($"{name}=$", StringComparison.Ordinal)))
        {
            yield return $"build.sh does not pass {name}";
        }
    }

    [GeneratedRegex(@"^ARG (\w+)", RegexOptions.Multiline)]
    private static partial Regex Argument();

    [GeneratedRegex(@"^USER (\S+)", RegexOptions.Multiline)]
    private static partial Regex User();

    [GeneratedRegex(@"\$\{(\w+)\}")]
    private static partial Regex Used();
}
