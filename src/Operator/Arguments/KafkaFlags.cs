using System.CommandLine;
using Billing.Messaging.Kafka.Clients;

namespace Billing.Operator.Arguments;

/// <summary>The brokers of a command, and the settings for connecting to them.</summary>
internal static class KafkaFlags
{
    public static Option<string?> Brokers() => new Option<string?>("--kafka")
    {
        Description =
            "Brokers; by default those of appsettings.json in this folder or of the environment "
            + "(Billing__Kafka__BootstrapServers), else those of the stack in the background",
        HelpName = "HOST:PORT",
        Recursive = true,
    }.Refuse(text => Flags.AreBrokers(text) ? null : $"--kafka must be HOST:PORT[,HOST:PORT]; it is '{text}'.");

    /// <summary>Returns the brokers with all other Kafka settings, such as credentials.</summary>
    public static async Task<KafkaOptions> ReadAsync(string? brokers)
    {
        var options = new KafkaOptions();
        ServiceSettings.Read().GetSection(KafkaOptions.Section).Bind(options);
        if (brokers is not null)
        {
            options.BootstrapServers = brokers;
        }
        else if (options.BootstrapServers.Length == 0)
        {
            var stack = await StackInBackground.ReadAsync()
                ?? throw new CommandException("--kafka is missing, and no stack is running.");
            options.BootstrapServers = stack.BootstrapServers
                ?? throw new CommandException(
                    "The running stack has no Kafka: on the embedded transport there is no dead-letter topic.");
        }
        return options;
    }
}
