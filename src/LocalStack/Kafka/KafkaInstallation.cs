using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>An installed Kafka with the Java to run it.</summary>
internal sealed record KafkaInstallation(string Home, string Java)
{
    public string Libraries => Path.Combine(Home, "libs", "*");

    /// <exception cref="StackException">Either is missing.</exception>
    public static KafkaInstallation Find() => new(
        KafkaPrograms.FindHome() ?? throw new StackException(
            "Kafka is not at hand: name its folder in KAFKA_HOME or its archive in BILLING_KAFKA_ARCHIVE and start " +
            "with ./billing, or go without it: --kafka embedded"),
        KafkaPrograms.FindJava() ?? throw new StackException(
            "Kafka needs Java 17 or newer: install it (Debian: apt-get install default-jre-headless), or name its " +
            "folder in JAVA_HOME, or go without Kafka: --kafka embedded"));
}
