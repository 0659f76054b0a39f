using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>An installed Kafka and an installed Java to run it.</summary>
/// <param name="Java">The launcher of a Java virtual machine.</param>
public sealed record KafkaInstallation(string Home, string Java)
{
    /// <summary>Its libraries, as a class path.</summary>
    public string Libraries => Path.Combine(Home, "libs", "*");

    /// <summary>Finds Kafka and Java.</summary>
    /// <exception cref="StackException">Either is missing.</exception>
    public static KafkaInstallation Find() => new(
        KafkaPrograms.FindHome() ?? throw new StackException(
            "Kafka is not installed: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive and start " +
            "with ./billing, or run without Kafka: --kafka embedded"),
        KafkaPrograms.FindJava() ?? throw new StackException(
            "Kafka needs Java 17 or newer: install it (Debian: apt-get install default-jre-headless), or set " +
            "JAVA_HOME to its folder, or run without Kafka: --kafka embedded"));
}
