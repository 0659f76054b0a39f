using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>An installed Kafka with the Java to run it.</summary>
/// <param name="Home">Kafka's folder.</param>
/// <param name="Java">The launcher of a Java virtual machine.</param>
public sealed record KafkaInstallation(string Home, string Java)
{
    /// <summary>Its libraries, as a class path.</summary>
    public string Libraries => Path.Combine(Home, "libs", "*");

    /// <summary>Finds both.</summary>
    /// <exception cref="StackException">Either is missing.</exception>
    public static KafkaInstallation Find() => new(
        KafkaPrograms.FindHome() ?? throw new StackException(
            "Kafka is not at hand: name its folder in KAFKA_HOME or its archive in BILLING_KAFKA_ARCHIVE and start " +
            "with ./billing, or go without it: --kafka embedded"),
        KafkaPrograms.FindJava() ?? throw new StackException(
            "Kafka needs Java 17 or newer: install it (Debian: apt-get install default-jre-headless), or name its " +
            "folder in JAVA_HOME, or go without Kafka: --kafka embedded"));
}
