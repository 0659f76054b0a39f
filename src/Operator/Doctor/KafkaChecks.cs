using System.Text.RegularExpressions;
using Billing.Hosting;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Options;

namespace Billing.Operator.Doctor;

/// <summary>Asks the brokers what a service checks at its start, and what the live page shows.</summary>
internal static partial class KafkaChecks
{
    // Of the warnings of the services' own check, by event id.
    private static readonly Dictionary<int, string> Warnings = new()
    {
        [118] = "Describe for the user of --kafka",
        [119] = "min.insync.replicas",
        [138] = "flush.messages",
    };

    public static async Task<IReadOnlyList<Finding>> OfAsync(KafkaOptions options, TimeProvider time)
    {
        var findings = new Noted();
        using var survey = new KafkaSurvey(options);
        try
        {
            await findings.AddTopicsAsync(options, time);
            var at = options.BootstrapServers.Split(',')[0];
            if (!options.Properties.TryGetValue("security.protocol", out var protocol)
                || !protocol.EndsWith("SSL", StringComparison.OrdinalIgnoreCase))
            {
                findings.Add(
                    Finding.At(at, "(Kafka) is used without TLS", "Billing:Kafka:Properties:security.protocol"));
            }
            if (await survey.BrokersAsync() is var brokers && brokers < 3)
            {
                findings.Add(Finding.At(
                    at, $"(Kafka) has too few brokers to lose one: {brokers}", "tiers={kafka={count=3}}; --brokers 3"));
            }
            var members = await survey.MembersAsync();
            findings.AddRange(
                new[] { Groups.Payments, Groups.Balances }.Where(group => members.All(member => member.Group != group))
                    .Select(group => new Finding(
                        true, $"no backend is a member of {group}: its commands wait", "Billing:Backend:Role")));
            if ((await survey.DeadLettersAsync()).Count is var letters && letters > 0)
            {
                findings.Add(new Finding(false, $"there are dead letters: {letters}", "./billing dead-letters list"));
            }
        }
        catch (Exception e) when (e is KafkaException or StartupException)
        {
            findings.Add(new Finding(
                true, $"the brokers do not answer: {survey.LastError ?? e.Message}", "Billing:Kafka:BootstrapServers"));
        }
        return findings;
    }

    // The setting is missing where the topic is.
    [GeneratedRegex("^Kafka topic [^:]*: (?:it does not exist|([a-z.]+))")]
    private static partial Regex Problem();

    private sealed class Noted : List<Finding>, ILogger<KafkaTopics>
    {
        public async Task AddTopicsAsync(KafkaOptions options, TimeProvider time)
        {
            try
            {
                await new KafkaTopics(Options.Create(options), time, this).CheckSharedAsync();
            }
            catch (StartupException e) when (Problem().IsMatch(e.Message))
            {
                AddRange(e.Message.Split(Environment.NewLine).Select(
                    line => new Finding(true, line, Problem().Match(line).Groups[1] is { Success: true } setting
                        ? setting.Value
                        : "./billing topics")));
            }
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state,
            Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (Warnings.TryGetValue(eventId.Id, out var setting))
            {
                Add(new Finding(false, formatter(state, exception), setting));
            }
        }
    }
}
